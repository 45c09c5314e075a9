import { describe, expect, it } from 'vitest'
import { parseRequest } from '../../src/protocol/request-parts.ts'
import { requestWith, validBody } from '../support/host-fixtures.ts'
import { refused } from '../support/refusals.ts'

const id = '7a'.repeat(32)
const blank = {
  kind: 'task.command',
  command: { command: id, task: id, action: 'send', based_on: 3, text: ' ', emulate: false, issued_at: 5 },
}

describe('a request whose operation alone is bad', () => {
  it.each([
    ['malformed', { kind: 'host.reboot' }, 'op.kind'],
    ['malformed', { kind: 'device.list', extra: 1 }, 'op.extra'],
    ['malformed', 'device.list', 'op'],
    ['malformed', { kind: 'enroll.redeem', invitation: id, capability: id }, 'grant'],
    ['bounds', blank, 'op.command.text'],
  ] as const)('comes back with its head and %s', (code, op, field) => {
    const body = requestWith(op)
    const reading = parseRequest(body, 'production')
    if (reading.ok) throw new Error('accepted')
    expect(reading.refusal).toMatchObject({ code, field })
    const { op: _op, ...head } = body
    expect(reading.head).toEqual(head)
  })

  it('comes back with its head when there is none', () => {
    const { op: _op, ...rest } = validBody('request_device_list')
    const reading = parseRequest(rest, 'production')
    expect(reading).toMatchObject({ ok: false, head: rest, refusal: { code: 'malformed', field: 'op' } })
  })

  it.each([
    ['malformed', { epoch: null }],
    ['malformed', { request: 'x' }],
    ['malformed', { also: 1 }],
    ['forbidden', { relay: 'ws://relay.example.net/' }],
    ['unsupported', { v: 'openagents.host-request.v2' }],
    ['unsupported', { requires: ['x'] }],
  ] as const)('is thrown with %s when the head is bad too: %j', async (code, changes) => {
    const body = { ...requestWith({ kind: 'host.reboot' }), ...changes }
    await refused(code, () => parseRequest(body, 'production'))
  })

  it('comes back with its head and malformed when an integer in it is loose, whatever its value says', () => {
    const body = validBody('request_command_send')
    const { op: _op, ...head } = body
    const reading = parseRequest(body, 'production', true)
    expect(reading).toMatchObject({ ok: false, head, refusal: { code: 'malformed', field: 'op' } })
    const bad = parseRequest(requestWith(blank), 'production', true)
    expect(bad).toMatchObject({ ok: false, refusal: { code: 'malformed' } })
  })

  it('is thrown when the head is bad too, however its operation is written', async () => {
    const body = { ...validBody('request_command_send'), request: 'x' }
    await refused('malformed', () => parseRequest(body, 'production', true))
  })

  it('is whole when nothing is bad', () => {
    const body = validBody('request_command_send')
    expect(parseRequest(body, 'production')).toEqual({ ok: true, request: body })
  })
})
