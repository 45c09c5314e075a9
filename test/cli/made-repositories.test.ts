import { describe, expect, it } from 'vitest'
import { madeRepositories } from '../../src/cli/task/made-repositories.ts'

describe('the repositories that a turn made', () => {
  it.each([
    ['none', [['notes.md', 'retained']], []],
    [
      'one, with all that lies in it',
      [
        ['sub/.git', 'directory'],
        ['sub/.git/hooks/post-commit', 'retained'],
      ],
      ['sub/.git'],
    ],
    [
      'at any depth',
      [
        ['a/b/.git', 'retained'],
        ['.git/config', 'retained'],
      ],
      ['a/b/.git', '.git'],
    ],
    ['not one that is gone', [['sub/.git', 'removed']], []],
    [
      'not a name that only looks like one',
      [
        ['sub/.github', 'directory'],
        ['x.git', 'directory'],
      ],
      [],
    ],
  ] as const)('%s', (_name, changes, made) => {
    expect(madeRepositories(changes.map(([path, state]) => ({ path, state })))).toEqual(made)
  })
})
