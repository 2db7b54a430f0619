import t, { type Test } from 'tap'
import { accountVault, cryptoReady, Refused, type Rest, Unreachable } from '../../../../lib/client/index.ts'
import { openCall, sealAnswer } from '../../../../lib/client/sealed/call-seals.ts'
import { sealPreview } from '../../../../lib/client/sealed/previews.ts'
import type { PreviewedAsk } from '../../../../lib/protocol/sealed/preview.ts'
import { callFailures } from '../../../../lib/protocol/wire/failures.ts'
import { type Given, giveAnswer } from '../../../../web/app/worker/answer.ts'
import { memoryDb } from '../../kit/device.ts'
import { permission, question } from './asks.ts'

await cryptoReady()
const secret = () => new Uint8Array(32).fill(7)
const key = accountVault(secret()).newKey()
const strangeKey = accountVault(secret()).newKey()

const deny: Given = { action: 'deny' }
const allow: Given = { action: 'allow' }
const reply: Given = { action: 'reply', text: ' the pear tree ' }

interface Machine {
  /** What the machine returns; an error is the server's. */
  readonly says?: unknown
  readonly seal?: typeof sealAnswer
  /** The requests that are open, as the server has them. */
  readonly open?: object
}

/** A device, the server, and the machine that decrypts the calls. */
function world({ says = null, seal = sealAnswer, open = {} }: Machine = {}) {
  const asked: unknown[] = []
  const call = async (name: string, { body }: { body?: { method: string; params: string } }) => {
    if (says instanceof Error) throw says
    if (name === 'listActiveSessions') {
      return { sessions: [{ id: 's1', dataEncryptionKey: key.wrapped, agentState: key.cipher.seal({ requests: open }) }] }
    }
    const [target = '', method = ''] = (body?.method ?? '').split(':')
    const opened = openCall(key.cipher, body?.params ?? '', { target, method })
    if (opened.type !== 'named') throw new Error(opened.type)
    asked.push([body?.method, opened.params])
    return { ok: true, result: seal(key.cipher, opened.name, says) }
  }
  const db = memoryDb()
  const device = { db, rest: { call } as unknown as Rest, name: 'Phone', secret } as unknown as Parameters<typeof giveAnswer>[0]
  return { device, asked, db }
}

function about(asks: PreviewedAsk | undefined) {
  const sealed = sealPreview(key, { session: 's1', notice: 'n1' }, { title: 'Pears', asks })
  return { path: '/s/s1', session: 's1', notice: 'n1', preview: sealed ?? '' }
}

t.test('an answer names the request as it was shown, and this device', async t => {
  const rows: [PreviewedAsk, Given, unknown][] = [
    [permission, deny, { id: 'p1', answeredBy: 'Phone', approved: false, decision: 'denied' }],
    [{ ...permission, shown: 'hash' }, deny, { id: 'p1', shown: 'hash', answeredBy: 'Phone', approved: false, decision: 'denied' }],
    [{ ...permission, mayAllow: false }, deny, { id: 'p1', answeredBy: 'Phone', approved: false, decision: 'denied' }],
    [permission, allow, { id: 'p1', answeredBy: 'Phone', approved: true, decision: 'approved' }],
    [
      { ...question, shown: 'hash' },
      reply,
      {
        ...{ id: 'q1', shown: 'hash', answeredBy: 'Phone', approved: true, decision: 'approved' },
        answers: { tree: { values: [], other: ' the pear tree ' } }
      }
    ]
  ]
  for (const [asks, given, params] of rows) {
    const { device, asked } = world()
    t.equal(await giveAnswer(device, about(asks), given), 'applied')
    t.strictSame(asked, [['s1:permission', params]])
  }
})

t.test('what a notification may not answer is not sent', async t => {
  const shown = about(permission)
  const rows: [string, Parameters<typeof giveAnswer>[1], Given][] = [
    ['a request that may only be allowed in the app', about({ ...permission, mayAllow: false }), allow],
    ['a text for a permission', shown, reply],
    ['a question without a field for text', about({ ...question, reply: undefined }), reply],
    ['an empty text', about(question), { action: 'reply', text: ' \n' }],
    ['a question denied', about(question), deny],
    ['a question allowed', about(question), allow],
    ['a preview that asks nothing', about(undefined), deny],
    ['the preview of another notice', { ...shown, notice: 'n2' }, deny],
    ['the preview of another session', { ...shown, session: 's2' }, deny],
    ['no notice', { ...shown, notice: undefined }, deny],
    ['no session', { ...shown, session: undefined }, deny],
    ['a damaged preview', { ...shown, preview: 'damaged' }, deny],
    ['an unseen request allowed', { ...shown, preview: undefined }, allow],
    ['an unseen question answered', { ...shown, preview: undefined }, reply]
  ]
  for (const [what, of, given] of rows) {
    const { device, asked } = world({ open: { p1: {} } })
    t.equal(await giveAnswer(device, of, given), 'undelivered', what)
    t.same(asked, [], what)
  }
})

t.test('without a preview only the one open request is denied', async t => {
  const unseen = { path: '/s/s1', session: 's1' }
  const one = world({ open: { p1: {} } })
  t.equal(await giveAnswer(one.device, unseen, deny), 'applied')
  t.strictSame(one.asked, [['s1:permission', { id: 'p1', answeredBy: 'Phone', approved: false, decision: 'denied' }]])
  for (const [open, outcome] of [
    [{}, 'changed'],
    [{ p1: {}, p2: {} }, 'several']
  ] as const) {
    const { device, asked } = world({ open })
    t.equal(await giveAnswer(device, unseen, deny), outcome)
    t.same(asked, [])
  }
})

t.test('what is known of an answer that failed is said, and no more', async t => {
  const server = (status: number, code: string) => new Unreachable('server-error', { status, code })
  const rows: [string, Machine, string, boolean?][] = [
    ['the machine found it changed', { says: { error: 'This request has changed' } }, 'changed'],
    ['the server refused it', { says: new Refused(429, 'Too many calls at once') }, 'undelivered'],
    ['the machine is away', { says: server(503, callFailures['not-available']) }, 'undelivered'],
    ['the machine went while it was asked', { says: server(502, callFailures['callee-gone']) }, 'sent'],
    ['the server got no answer in time', { says: server(504, callFailures['timed-out']) }, 'sent'],
    ['the server was not reached', { says: new Unreachable('network') }, 'unanswered'],
    ['there is no network', { says: new Unreachable('network') }, 'offline', false],
    ['the answer has another key', { seal: (_, call, result) => sealAnswer(strangeKey.cipher, call, result) }, 'sent'],
    [
      'it is the answer to another call',
      { seal: (cipher, call, result) => sealAnswer(cipher, call && { ...call, call: 'other' }, result) },
      'sent'
    ],
    ['the app itself failed', { says: new TypeError('no') }, 'undelivered']
  ]
  for (const [what, machine, outcome, onLine = true] of rows) {
    onLineIs(t, onLine)
    t.equal(await giveAnswer(world(machine).device, about(permission), deny), outcome, what)
  }
})

t.test('a session known to name its answers is not believed when it gives a nameless one', async t => {
  for (const [known, outcome] of [
    [[], 'applied'],
    [['s2'], 'applied'],
    [['s1'], 'sent']
  ] as const) {
    const { device, db } = world({ seal: (cipher, _, result) => sealAnswer(cipher, undefined, result) })
    await db.write('pins', known)
    t.equal(await giveAnswer(device, about(permission), deny), outcome)
  }
})

t.test('a request that could not even be looked up was not answered', async t => {
  const unseen = { path: '/s/s1', session: 's1' }
  t.equal(await giveAnswer(world({ says: new Unreachable('network') }).device, unseen, deny), 'offline')
  t.equal(await giveAnswer(world({ says: new Unreachable('server-error', { status: 500 }) }).device, unseen, deny), 'undelivered')
})

function onLineIs(t: Test, onLine: boolean): void {
  t.intercept(globalThis, 'navigator', { value: { onLine } })
}
