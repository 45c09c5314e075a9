import type { Schedule } from './steps.ts'

/** A schedule in which something was wrong once, as short as it can be. */
export interface Found {
  readonly was: string
  readonly schedule: Schedule
}

export const found: readonly Found[] = [
  {
    was: 'an edit was acknowledged and lost, since the journal had been read again after a failed write',
    schedule: {
      seed: 1152,
      steps: [
        {
          do: 'mint',
          device: 0,
          task: 0,
          kind: 'queue',
          emulate: true,
          stale: false,
          ahead: 0,
          quickly: false,
        },
        { do: 'send', device: 0 },
        { do: 'relay', pick: 60, fate: 'deliver' },
        { do: 'settle' },
        { do: 'ask', device: 1, task: 0, action: 'edit', pick: 11, quickly: true },
        { do: 'relay', pick: 20, fate: 'duplicate' },
        { do: 'fail', at: 0, times: 3, doubtful: false },
        { do: 'ask', device: 2, task: 0, action: 'remove', pick: 41, quickly: true },
        { do: 'relay', pick: 6, fate: 'deliver' },
        { do: 'relay', pick: 40, fate: 'deliver' },
        { do: 'ask', device: 0, task: 0, action: 'remove', pick: 33, quickly: true },
        {
          do: 'mint',
          device: 2,
          task: 0,
          kind: 'queue',
          emulate: false,
          stale: false,
          ahead: 0,
          quickly: true,
        },
        { do: 'settle' },
      ],
    },
  },
  {
    was: 'a message that was removed while it was being recorded was never answered',
    schedule: {
      seed: 10_736,
      steps: [
        { do: 'begin', task: 0 },
        { do: 'ask', device: 1, task: 1, action: 'edit', pick: 55, quickly: true },
        { do: 'relay', pick: 1, fate: 'deliver' },
        { do: 'send', device: 0 },
        { do: 'send', device: 0 },
        { do: 'relay', pick: 22, fate: 'drop' },
        { do: 'send', device: 2 },
        { do: 'send', device: 1 },
        { do: 'relay', pick: 50, fate: 'deliver' },
        { do: 'ask', device: 1, task: 0, action: 'restore', pick: 46, quickly: true },
        { do: 'relay', pick: 59, fate: 'deliver' },
        { do: 'relay', pick: 17, fate: 'deliver' },
        { do: 'relay', pick: 49, fate: 'deliver' },
        {
          do: 'mint',
          device: 1,
          task: 0,
          kind: 'queue',
          emulate: true,
          stale: false,
          ahead: 0,
          quickly: false,
        },
        { do: 'relay', pick: 55, fate: 'duplicate' },
        { do: 'send', device: 0 },
        { do: 'send', device: 1 },
        { do: 'ask', device: 1, task: 0, action: 'remove', pick: 26, quickly: true },
        { do: 'relay', pick: 0, fate: 'deliver' },
      ],
    },
  },
  {
    was: 'a replay settled the dead run that its own first message waited for, and nobody looked',
    schedule: {
      seed: 64_363,
      steps: [
        { do: 'begin', task: 0 },
        { do: 'settle' },
        {
          do: 'mint',
          device: 2,
          task: 0,
          kind: 'queue',
          emulate: true,
          stale: false,
          ahead: 0,
          quickly: true,
        },
        { do: 'send', device: 2 },
        { do: 'relay', pick: 23, fate: 'deliver' },
        { do: 'end', task: 0, how: 'lost' },
        { do: 'settle' },
      ],
    },
  },
]
