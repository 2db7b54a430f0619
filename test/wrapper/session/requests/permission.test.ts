import t from 'tap'
import type { PermissionChoice } from '../../../../lib/protocol/sealed/session.ts'
import type { PermissionAsk, Step } from '../../../../lib/wrapper/agents/agent.ts'
import type { Judgement } from '../../../../lib/wrapper/approvals/approvals.ts'
import {
  choiceOf,
  completedPermission,
  decisionOf,
  grantsOf,
  hashOfPermission,
  isOnceOnly,
  judgedAs,
  onceOnly,
  requestOfPermission
} from '../../../../lib/wrapper/session/requests/permission.ts'

const step: Step = { call: 'c', name: 'Bash', title: 'make', kind: 'execute', input: { command: 'make' }, locations: ['/a'], content: [] }
const once: PermissionChoice = { id: 'once', label: 'Yes', kind: 'allow_once' }
const always: PermissionChoice = { id: 'always', label: 'Always', kind: 'allow_always' }
const no: PermissionChoice = { id: 'no', label: 'No', kind: 'reject_once' }
const never: PermissionChoice = { id: 'never', label: 'Never', kind: 'reject_always' }
const plain: Judgement = { risk: { level: 'plain', reasons: [], knowsEdits: true } }
const risky: Judgement = { risk: { level: 'risky', reasons: [], knowsEdits: true } }
const asking = (...choices: PermissionChoice[]): PermissionAsk => ({ ask: 'a', step, choices })
const all = asking(once, always, no, never)
const yes = { id: 'a', approved: true }
const denied = { id: 'a', approved: false }

/** The choice that an answer makes, by its id. */
function chosen(asked: PermissionAsk, answer: Parameters<typeof choiceOf>[2], judged = plain): string {
  return choiceOf(asked, requestOfPermission(asked, 1, judged).request, answer).id
}

t.test('yes and no of an existing app are the narrowest choice offered', async t => {
  t.equal(chosen(all, yes), 'once')
  t.equal(chosen(all, denied), 'no')
  t.equal(chosen(asking(once, never), denied), 'never')
  t.equal(chosen(all, { ...yes, decision: 'approved_for_session' }), 'always')
  t.equal(chosen(asking(no, once), { ...yes, decision: 'approved_for_session' }), 'once')
  t.throws(() => chosen(asking(always, no), yes), { message: 'The agent does not offer to allow this once.' })
  t.throws(() => chosen(asking(once), denied), { message: 'The agent does not offer to deny this. Stop it instead.' })
})

t.test('a named choice is taken if it is offered', async t => {
  t.equal(chosen(all, { ...yes, choice: 'always' }), 'always')
  t.equal(chosen(all, { ...denied, choice: 'never' }), 'never')
  t.throws(() => chosen(all, { ...yes, choice: 'other' }), { message: 'The agent does not offer this choice.' })
})

t.test('what is risky is allowed once only, however it is asked for', async t => {
  t.throws(() => chosen(all, { ...yes, choice: 'always' }, risky), { message: onceOnly })
  t.equal(chosen(all, { ...yes, choice: 'once' }, risky), 'once')
  t.equal(chosen(all, { ...yes, decision: 'approved_for_session' }, risky), 'once')
  t.equal(chosen(all, { ...denied, choice: 'never' }, risky), 'never')
  t.equal(chosen(all, { ...yes, mode: 'always' }, risky), 'once')
  t.equal(isOnceOnly(requestOfPermission(all, 1, risky).request), true)
  t.equal(isOnceOnly(requestOfPermission(all, 1, plain).request), false)
})

t.test('the mode that follows a plan is the choice of that name, if it allows', async t => {
  t.equal(chosen(all, { ...yes, mode: 'always' }), 'always')
  t.equal(chosen(all, { ...yes, mode: 'no' }), 'once')
  t.equal(chosen(all, { ...yes, mode: 'other' }), 'once')
  t.equal(chosen(all, { ...denied, mode: 'always' }), 'no')
  t.equal(chosen(all, { ...yes, mode: 'always', choice: 'once' }), 'once', 'a named choice is clearer')
})

t.test('a yes to anything but what was asked or shown allows nothing', async t => {
  t.equal(chosen(all, { ...yes, updatedInput: { command: 'make' } }), 'once')
  t.throws(() => chosen(all, { ...yes, updatedInput: { command: 'rm' } }), /^Nothing was allowed/)
  t.equal(chosen(all, { ...denied, updatedInput: { command: 'rm' } }), 'no')
  const long = { ...all, step: { ...step, input: { command: 'x'.repeat(5000) } } }
  const { request } = requestOfPermission(long, 1, plain, 1000)
  t.equal(choiceOf(long, request, { ...yes, updatedInput: request.arguments as never }).id, 'once')
})

t.test('what cannot be shown in full is risky, and no rule is suggested for it', async t => {
  const judged = {
    risk: { level: 'plain', reasons: ['network', 'shortened'], knowsEdits: true },
    suggestedRule: { tool: 'Bash' }
  } as never as Judgement
  t.equal(judgedAs(judged, { isShort: false }), judged)
  t.strictSame(judgedAs(judged, { isShort: true }), { risk: { level: 'risky', reasons: ['shortened', 'network'], knowsEdits: true } })
  const whole = requestOfPermission(all, 1, judged)
  t.equal(whole.isShort, false)
  t.strictSame(whole.request, {
    tool: 'Bash',
    arguments: { command: 'make' },
    title: 'make',
    content: [],
    locations: ['/a'],
    createdAt: 1,
    toolUseId: 'c',
    kind: 'execute',
    choices: all.choices,
    shown: hashOfPermission(all, judged.risk),
    risk: judged.risk,
    suggestedRule: judged.suggestedRule
  })
  const short = requestOfPermission(all, 1, judged, 20)
  t.equal(short.isShort, true)
  t.equal(short.request.risk?.level, 'risky')
  t.notOk('suggestedRule' in short.request)
})

t.test('the mark of a request changes with all that a decision depends on', async t => {
  const changes: Partial<Step>[] = [
    { name: 'Edit' },
    { title: 'make all' },
    { kind: 'edit' },
    { input: { command: 'rm' } },
    { content: [{ type: 'text', text: 'x' }] },
    { locations: [] }
  ]
  const marks = [
    hashOfPermission(all, plain.risk),
    hashOfPermission(all, risky.risk),
    hashOfPermission(all, { ...plain.risk, knowsEdits: false }),
    hashOfPermission(all, undefined),
    hashOfPermission(asking(once), plain.risk),
    ...changes.map(change => hashOfPermission({ ...all, step: { ...step, ...change } }, plain.risk))
  ]
  t.equal(new Set(marks).size, marks.length)
  t.equal(hashOfPermission({ ...all, step: { ...step, call: 'd' } }, plain.risk), marks[0])
})

t.test('a decision is what the choice was, and a no may stop the turn', async t => {
  t.strictSame(
    [once, always, no, never].map(choice => decisionOf(choice, denied)),
    ['approved', 'approved_for_session', 'denied', 'denied']
  )
  t.equal(decisionOf(no, { ...denied, decision: 'abort' }), 'abort')
})

t.test('a decided request keeps one line, its reason, and arguments of up to 2000 characters', async t => {
  const { request } = requestOfPermission(all, 1, plain)
  const how = { status: 'denied', completedAt: 2 } as const
  t.strictSame(completedPermission(request, how), {
    tool: 'Bash',
    arguments: { command: 'make' },
    createdAt: 1,
    toolUseId: 'c',
    title: 'make',
    ...how
  })
  const args = (length: number) => ({ x: 'y'.repeat(length - 8) })
  t.strictSame(completedPermission({ ...request, arguments: args(2000) }, how).arguments, args(2000))
  t.strictSame(completedPermission({ ...request, arguments: args(2001) }, how).arguments, {})
  const bare = completedPermission({ tool: 'Bash', arguments: undefined, createdAt: 1 }, how)
  t.match([bare.title, bare.arguments], [undefined, undefined], 'of an existing wrapper')
  const long = completedPermission(
    { ...request, title: 't'.repeat(501), call: 'd' },
    { ...how, reason: 'r'.repeat(2001), answeredBy: 'phone' }
  )
  t.equal(long.title, `${'t'.repeat(500)}\n… 1 more characters: see the rest on the computer.`)
  t.match([long.call, long.reason, long.answeredBy], ['d', 'r'.repeat(2000), 'phone'])
  t.equal(long.reason?.length, 2000)
})

t.test('a long label, and a long list of what a choice allows, are cut where they are shown', async t => {
  const rest = '\n… 1 more characters: see the rest on the computer.'
  const grants = { until: 'session', what: [{ type: 'command', of: ['c'.repeat(501), 'make'] }] } as never as NonNullable<
    PermissionChoice['grants']
  >
  const choice = { ...always, label: 'l'.repeat(501), grants }
  const shown = { ...grants, what: [{ type: 'command', of: [`${'c'.repeat(500)}${rest}`, 'make'] }] }
  t.strictSame(grantsOf(choice), shown)
  t.strictSame(requestOfPermission(asking(choice), 1, plain).request.choices, [
    { ...always, label: `${'l'.repeat(500)}${rest}`, grants: shown }
  ])
  t.equal(grantsOf(once), undefined)
})
