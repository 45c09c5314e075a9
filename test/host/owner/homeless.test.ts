import { expect, it } from 'vitest'
import { executeGrant } from '../../../src/host/owner/execute.ts'
import { grantBytes, shellTerms } from '../../support/host-stage.ts'
import { ownerStage } from '../../support/owner-stage.ts'

it('a turn of a store whose home was never made is admitted: there is nothing to hide', async () => {
  const stage = await ownerStage()
  const grant = grantBytes(await stage.tasks.show('task-1'), shellTerms('true'))
  const done = await executeGrant({ ...stage.deps(), home: `${stage.home}/never-made` }, grant)
  expect(done).toMatchObject({ execution: 'finished' })
})
