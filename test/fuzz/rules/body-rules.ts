import { canonicalText } from '../raw-seal.ts'
import { operation } from './operation-rules.ts'
import {
  anyString,
  fields,
  id,
  isObject,
  key,
  line,
  natural,
  oneOf,
  orNull,
  type Rule,
  relayUrl,
  right,
  rights,
  set,
  type Verdict,
  whole,
  worst,
  yes,
} from './rule.ts'

type Policy = 'production' | 'loopback_test'
type Body = Readonly<Record<string, unknown>>

interface BodyRule {
  readonly v: string
  readonly fields: (policy: Policy) => Readonly<Record<string, Rule>>
  /** Once the shape holds. */
  readonly together?: (body: Body) => Verdict
}

const times = { issued_at: natural, expires_at: natural }
const month = 30 * 86_400

const rules: Readonly<Record<string, BodyRule>> = {
  grant: {
    v: 'openagents.host-grant.v1',
    fields: (policy) => ({
      grant: id,
      host: key,
      owner: key,
      device: key,
      relay: relayUrl(policy),
      rights,
      epoch: natural,
      origin: fields({ kind: oneOf('invitation', 'approval'), id, issuer: key }),
      ...times,
    }),
    together: (body) => worst([lives(body, 1, month), differ(body, ['host', 'owner', 'device'])]),
  },
  enrollment: {
    v: 'openagents.host-enrollment-request.v1',
    fields: (policy) => ({
      enrollment: id,
      host: key,
      owner: key,
      relay: relayUrl(policy),
      rights,
      ...times,
    }),
    together: (body) => worst([lives(body, 1, 300), differ(body, ['host', 'owner'])]),
  },
  nudge: {
    v: 'openagents.host-nudge.v1',
    fields: () => ({ host: key, device: key, ...times }),
    together: (body) => worst([lives(body, 86_400, 86_400), differ(body, ['host', 'device'])]),
  },
  presence: {
    v: 'openagents.host-presence.v1',
    fields: () => ({
      host: key,
      owner: key,
      generation: natural,
      protocol: oneOf(1),
      compatibility: (value) =>
        worst([
          fields({ min: natural, max: natural })(value),
          yes(!isObject(value) || !(Number(value['min']) > Number(value['max']))),
        ]),
      capabilities: set(
        (slug) => yes(typeof slug === 'string' && /^[a-z0-9][a-z0-9._-]{0,63}$/.test(slug)),
        64,
      ),
      observed_at: natural,
      telemetry: orNull(
        fields({
          cpu_count: whole(1),
          cpu_utilization_pct: whole(0, 100),
          memory_available_pct: whole(0, 100),
        }),
      ),
    }),
    together: (body) => differ(body, ['host', 'owner']),
  },
  request: {
    v: 'openagents.host-request.v1',
    fields: (policy) => ({ ...head(policy), op: operation }),
    together: (body) => worst([headTogether(body), redeemsWithout(body)]),
  },
  request_head: {
    v: 'openagents.host-request.v1',
    fields: head,
    together: headTogether,
  },
  summary: {
    v: 'openagents.activity-summary.v1',
    fields: () => ({
      host: key,
      subject: fields({ kind: oneOf('task'), id }),
      sequence: natural,
      phase: oneOf('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'unknown'),
      headline: line(160),
      attention: oneOf('none', 'approval', 'input', 'completed', 'failed'),
      updated_at: natural,
    }),
    together: summaryTogether,
  },
  reply: {
    v: 'openagents.host-reply.v1',
    fields: () => ({ request: id, request_event: id, host: key, ...times, result }),
    together: (body) => lives(body, 1, 120),
  },
}
export type RuledBody =
  | 'grant'
  | 'enrollment'
  | 'nudge'
  | 'presence'
  | 'summary'
  | 'request'
  | 'request_head'
  | 'reply'

/**
 * What a body earns: version or requirement first, then shape and lifetime, relay and keys, and bounds last.
 * @see spec/wire.md §1, §5
 */
export function judgeBody(name: RuledBody, value: unknown, policy: Policy): Verdict {
  const rule = rules[name]
  if (rule === undefined || !isObject(value)) return 'malformed'
  const { v, requires } = value
  if (typeof v === 'string') {
    if (v !== rule.v) return 'unsupported'
    if (Array.isArray(requires) && requires.length > 0) return 'unsupported'
  }
  const none: Rule = (list) => yes(Array.isArray(list) && list.length === 0)
  const shape = fields({ v: oneOf(rule.v), requires: none, ...rule.fields(policy) })(value)
  return worst([shape, shape === 'malformed' ? 'ok' : (rule.together?.(value) ?? 'ok')])
}

function head(policy: Policy): Readonly<Record<string, Rule>> {
  return {
    request: id,
    host: key,
    grant: orNull(id),
    epoch: orNull(natural),
    relay: relayUrl(policy),
    ...times,
  }
}

function headTogether(body: Body): Verdict {
  return worst([lives(body, 1, 60), yes((body['grant'] === null) === (body['epoch'] === null))])
}

/** Which attention goes with which phase, and what a failure is called. */
function summaryTogether(body: Body): Verdict {
  const { phase, attention, headline } = body
  const fitting: Readonly<Record<string, readonly unknown[]>> = {
    waiting: ['none', 'approval', 'input'],
    completed: ['none', 'completed'],
    failed: ['failed'],
  }
  const fits = (fitting[String(phase)] ?? ['none']).includes(attention)
  return worst([
    yes(fits && (phase !== 'failed' || headline === 'Task failed')),
    yes(Buffer.byteLength(canonicalText(body), 'utf8') <= 1_024, 'bounds'),
  ])
}

function redeemsWithout({ op, grant }: Body): Verdict {
  return yes(!isObject(op) || op['kind'] !== 'enroll.redeem' || grant === null)
}

function lives({ issued_at, expires_at }: Body, min: number, max: number): Verdict {
  const seconds = Number(expires_at) - Number(issued_at)
  return yes(seconds >= min && seconds <= max)
}

function differ(body: Body, names: readonly string[]): Verdict {
  return yes(new Set(names.map((name) => body[name])).size === names.length, 'forbidden')
}

const codes =
  'malformed unsupported forbidden missing_right expired revoked stale conflict bounds unavailable rate_limited wrong_code denied'

/** A refusal, or a success whose outcome somebody else looks at. */
function result(value: unknown): Verdict {
  if (!isObject(value)) return 'malformed'
  if (value['status'] === 'ok') {
    return fields({
      status: oneOf('ok'),
      outcome: (outcome) => yes(isObject(outcome) && anyString(outcome['kind']) === 'ok'),
    })(value)
  }
  const shape = fields({
    status: oneOf('refused'),
    code: oneOf(...codes.split(' ')),
    missing: orNull(right),
  })(value)
  return worst([shape, yes((value['code'] === 'missing_right') === (value['missing'] !== null))])
}
