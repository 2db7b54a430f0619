import t, { type Test } from 'tap'
import { failure } from '../../../../lib/protocol/wire/failures.ts'
import type { AccountId, DeviceId } from '../../../../lib/protocol/wire/ids.ts'
import * as ids from '../../../../lib/protocol/wire/ids.ts'
import { notificationSettings } from '../../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../../lib/schema.ts'
import {
  acknowledgePush,
  addPushToken,
  listPushTokens,
  readNotifications,
  removeChannel,
  removePushToken,
  testNotification,
  writeNotifications
} from '../../../../lib/server/actions/notify/push-tokens.ts'
import type { Caller } from '../../../../lib/server/deps.ts'
import { unknownProvider } from '../../../../lib/server/push/custom-provider.ts'
import type { PushProvider } from '../../../../lib/server/push.ts'
import type { DeliveryDraft } from '../../../../lib/store/notices.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { noQuotas, type Quotas } from '../../../../lib/store/quotas.ts'
import { newAccount, signInAs, tokenDraft, tokenId } from '../../../store/contract/kit.ts'

const day = 24 * 60 * 60 * 1000
const phone = 'ExponentPushToken[phone]'

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)

/** Takes tokens of this prefix. */
const provider = (kind: PushProvider['kind'], prefix: string, more: Partial<PushProvider> = {}): PushProvider => ({
  ...unknownProvider,
  kind,
  knows: token => token.startsWith(prefix),
  ...more
})
const providers = [
  provider('expo', 'ExponentPushToken'),
  provider('ntfy', 'Ntfy', { flawOf: token => (token === 'Ntfy[bad]' ? 'Ntfy: token is bad' : undefined) }),
  provider('web-push', 'WebPush', { acknowledges: true })
]

/** An account with two devices, whose channels are named by their order. */
async function openWorld(t: Test) {
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: error => t.error(error) })
  t.teardown(() => store.close())
  const account = await newAccount(store, 'ada')
  const callerOn = async (id: string): Promise<Caller> => {
    await store.signIn(
      signInAs('ada', { token: () => tokenDraft('account', id, id, { device: { id: `device ${id}` as DeviceId, publicKey: null } }) })
    )
    const device = v.parse(ids.deviceId, await store.findDeviceOf(account, tokenId(id)))
    return { account, token: tokenId(id), kind: 'account', scopes: ['read', 'write'], device, skip: undefined }
  }
  const [mine, other] = [await callerOn('mine'), await callerOn('other')]
  let [at, count, quotas] = [40 * day, 0, noQuotas]
  const happened: string[] = []
  let [attempt, begin] = [async () => {}, () => {}]
  const deps = {
    store,
    now: () => at,
    time: () => at,
    newId: () => `id-${++count}`,
    quotas: (of: AccountId) => {
      t.equal(of, account)
      return quotas
    },
    providers,
    metrics: { arrived: () => happened.push('arrived') },
    deliveries: {
      firstTry(of: AccountId, notice: string, count: number, withinMs: number) {
        happened.push(`waits for ${count} of ${notice} of ${of} for ${withinMs}`)
        return new Promise<void>(resolve => {
          begin = () => void attempt().then(resolve)
        })
      },
      wake() {
        happened.push('woken')
        begin()
      }
    }
  }
  /** A notice made then, on a channel of its own; when its device had it, if it had. */
  const notice = async (
    id: string,
    madeAt: number,
    result: 'waiting' | 'accepted' | 'refused' | { arrivedAt: number },
    channel = 'id-1'
  ) => {
    const draft: DeliveryDraft = {
      ...{
        channel,
        channelKind: 'expo',
        receipt: `receipt of ${id}`,
        dueAt: madeAt,
        isSilent: false,
        isCollected: false,
        unlessWatched: false
      }
    }
    await store.addNotice(account, {
      ...{ id, kind: 'done', session: null, title: '', body: '', preview: null, now: madeAt, expiresAt: madeAt + day, deliveries: [draft] }
    })
    if (result === 'waiting') return
    const claimed = await store.claimDeliveries({ kind: 'expo', now: madeAt, heldUntil: madeAt + 1, limit: 10, ofAnAccount: 10, busy: [] })
    const outcome = result === 'refused' ? 'refused' : 'accepted'
    const reason = result === 'refused' ? 'HTTP 400' : null
    await store.endDeliveries(
      claimed.map(({ key }) => ({ key, outcome, reason, at: madeAt })),
      []
    )
    if (typeof result === 'object' && mine.device) await store.acknowledgeDelivery(account, mine.device, draft.receipt, result.arrivedAt)
  }
  return {
    ...{ store, account, deps, mine, other, happened, notice },
    program: { ...mine, kind: 'named', device: null } as Caller,
    limit: (given: Partial<Quotas>) => {
      quotas = { ...noQuotas, ...given }
    },
    setTime: (to: number) => {
      at = to
    },
    /** What is done once deliveries are woken, before the first attempts are over. */
    setAttempt: (to: typeof attempt) => {
      attempt = to
    }
  }
}

t.test('a channel is stored for the device that registers it, unless its provider finds a flaw', async t => {
  const { deps, store, account, mine } = await openWorld(t)
  await addPushToken(deps, mine, phone)
  await addPushToken(deps, mine, 'of nobody')
  t.match(await store.listChannels(account), [
    { id: 'id-1', token: phone, device: mine.device, createdAt: 40 * day },
    { id: 'id-2', token: 'of nobody', device: mine.device }
  ])
  await t.rejects(addPushToken(deps, mine, 'Ntfy[bad]'), failure('bad-input', 'Ntfy: token is bad'))
  t.equal((await store.listChannels(account)).length, 2)
  await removePushToken(deps, mine, phone)
  await removeChannel(deps, mine, 'id-2')
  t.same(await store.listChannels(account), [])
})

t.test('a channel above what the account may have takes the place of the oldest', async t => {
  const { deps, store, account, mine, limit, setTime } = await openWorld(t)
  limit({ pushTokens: 1 })
  await addPushToken(deps, mine, 'one')
  setTime(41 * day)
  await addPushToken(deps, mine, 'two')
  t.same(
    (await store.listChannels(account)).map(({ token }) => token),
    ['two']
  )
})

t.test('only the device that registered a channel of our kinds sees its address [P5]', async t => {
  const { deps, mine, other, program } = await openWorld(t)
  const secret = ['WebPush[secret]', 'Ntfy[se\ncret]', 'UnifiedPush[secret]', 'Webhook[secret]']
  const plain = [phone, 'of nobody', 'my Ntfy[x]']
  for (const token of [...secret, ...plain]) await addPushToken(deps, mine, token)
  const tokens = async (caller: Caller) => (await listPushTokens(deps, caller)).map(({ token }) => token)
  t.same(await tokens(mine), [...secret, ...plain])
  const hidden = ['WebPush[…]', 'Ntfy[…]', 'UnifiedPush[…]', 'Webhook[…]', ...plain]
  t.same(await tokens(other), hidden)
  t.same(await tokens(program), hidden, 'a program has no device')
  t.strictSame((await listPushTokens(deps, mine))[0], { id: 'id-1', token: 'WebPush[secret]', createdAt: 40 * day, updatedAt: 40 * day })
})

t.test('a program without a device sees no channel as its own', async t => {
  const { deps, store, account, program } = await openWorld(t)
  await store.addPushToken(account, { id: 'old', token: 'Ntfy[secret]', device: null, now: 1 })
  t.match(await listPushTokens(deps, program), [{ token: 'Ntfy[…]' }])
  t.match(await readNotifications(deps, program), { settings: null, channels: [{ id: 'old', isOwn: false, device: null }] })
})

t.test('each device is told of all channels, which are its own, and what they can', async t => {
  const { deps, mine, other, setTime } = await openWorld(t)
  await addPushToken(deps, mine, phone)
  setTime(41 * day)
  await addPushToken(deps, other, 'WebPush[x]')
  await addPushToken(deps, other, 'of nobody')
  const health = { sent: 0, arrived: 0, typicalMs: null, slowestMs: null, last: [] }
  const { settings, channels } = await readNotifications(deps, mine)
  t.equal(settings, null)
  t.strictSame(channels.toSorted(byId), [
    {
      ...{ id: 'id-1', kind: 'expo', isOwn: true, device: 'mine', createdAt: 40 * day, updatedAt: 40 * day, acknowledges: false, health }
    },
    {
      ...{
        id: 'id-2',
        kind: 'web-push',
        isOwn: false,
        device: 'other',
        createdAt: 41 * day,
        updatedAt: 41 * day,
        acknowledges: true,
        health
      }
    },
    {
      ...{
        id: 'id-3',
        kind: 'unknown',
        isOwn: false,
        device: 'other',
        createdAt: 41 * day,
        updatedAt: 41 * day,
        acknowledges: false,
        health
      }
    }
  ])
})

t.test('a device has settings of its own, and a program none', async t => {
  const { deps, store, account, mine, other, program } = await openWorld(t)
  const settings = v.parse(notificationSettings, { decision: 'silent' })
  const given = { settings }
  await writeNotifications(deps, mine, given)
  t.match(await readNotifications(deps, mine), { settings })
  t.match(await readNotifications(deps, other), { settings: null })
  const missing = (caller: Caller) => t.rejects(writeNotifications(deps, caller, given), failure('device-not-found'))
  await missing(program)
  if (other.device) await store.removeDevice(account, other.device)
  await missing(other)
})

t.test('the health of a channel is that of its last seven days, with the latest results first', async t => {
  const { deps, mine, notice } = await openWorld(t)
  await addPushToken(deps, mine, phone)
  await addPushToken(deps, mine, 'WebPush[x]')
  const now = 40 * day
  await notice('too old', now - 31 * day, 'accepted')
  await notice('before', now - 7 * day - 1, { arrivedAt: now })
  await notice('a week ago', now - 7 * day, { arrivedAt: now - 7 * day + 100 })
  await notice('backwards', now - 6, { arrivedAt: now - 9 })
  await notice('slow', now - 5, { arrivedAt: now + 5_000 - 5 })
  await notice('typical', now - 4, { arrivedAt: now + 300 - 4 })
  await notice('unseen', now - 3, 'accepted')
  await notice('refused', now - 2, 'refused')
  await notice('waiting', now - 1, 'waiting')
  const { channels } = await readNotifications(deps, mine)
  const [health, another] = ['id-1', 'id-2'].map(id => channels.find(channel => channel.id === id)?.health)
  t.match(health, { sent: 5, arrived: 4, typicalMs: 300, slowestMs: 5_000 })
  t.strictSame(
    health?.last.map(({ at, outcome, reason, arrivedAfterMs }) => [now - at, outcome, reason, arrivedAfterMs]),
    [
      [1, 'waiting', null, null],
      [2, 'refused', 'HTTP 400', null],
      [3, 'accepted', null, null],
      [4, 'arrived', null, 300],
      [5, 'arrived', null, 5_000],
      [6, 'arrived', null, 0],
      [7 * day, 'arrived', null, 100],
      [7 * day + 1, 'arrived', null, 7 * day + 1]
    ]
  )
  t.ok(health?.last.every(({ kind }) => kind === 'done'))
  t.match(another, { sent: 0, last: [] })
  for (let more = 0; more < 20; more += 1) await notice(`more ${more}`, now, 'waiting')
  const [channel] = (await readNotifications(deps, mine)).channels
  t.equal(channel?.health.last.length, 20)
})

t.test('a test goes to every channel at once, and has the results of the first attempts', async t => {
  const { deps, store, account, mine, other, happened, setAttempt } = await openWorld(t)
  await addPushToken(deps, mine, phone)
  await addPushToken(deps, other, 'of nobody')
  const claim = (kind: 'expo' | 'unknown') =>
    store.claimDeliveries({ kind, now: 40 * day, heldUntil: 41 * day, limit: 10, ofAnAccount: 10, busy: [] })
  let claimed: Awaited<ReturnType<typeof claim>> = []
  setAttempt(async () => {
    claimed = await claim('expo')
    await store.endDeliveries(
      claimed.map(({ key }) => ({ key, outcome: 'refused', reason: 'HTTP 400', at: 40 * day })),
      []
    )
  })
  const { channels } = await testNotification(deps, mine, undefined)
  t.strictSame(channels.toSorted(byId), [
    { id: 'id-1', outcome: 'refused', reason: 'HTTP 400' },
    { id: 'id-2', outcome: 'waiting', reason: null }
  ])
  t.same(happened, [`waits for 2 of id-3 of ${account} for 10000`, 'woken'])
  t.match(claimed, [
    {
      ...{ channel: 'id-1', token: phone, receipt: 'id-4', what: 'show', isSilent: false, isCollected: false, unlessWatched: false },
      notice: {
        id: 'id-3',
        kind: 'test',
        session: null,
        title: '',
        body: '',
        preview: null,
        createdAt: 40 * day,
        expiresAt: 40 * day + 300_000
      }
    }
  ])
  t.match(await claim('unknown'), [{ channel: 'id-2', token: 'of nobody', receipt: 'id-5' }])
})

t.test('a test of one channel goes to that one, and there must be one', async t => {
  const { deps, mine, happened } = await openWorld(t)
  await addPushToken(deps, mine, phone)
  await addPushToken(deps, mine, 'of nobody')
  t.same(await testNotification(deps, mine, 'id-2'), { channels: [{ id: 'id-2', outcome: 'waiting', reason: null }] })
  happened.length = 0
  await t.rejects(testNotification(deps, mine, 'id-9'), failure('channel-not-found'))
  t.same(happened, [])
  await removeChannel(deps, mine, 'id-1')
  await removeChannel(deps, mine, 'id-2')
  t.same(await testNotification(deps, mine, undefined), { channels: [] }, 'an account without channels has none to test')
})

t.test('an arrival counts once, for the device of its channel', async t => {
  const { deps, mine, other, program, notice, happened } = await openWorld(t)
  await addPushToken(deps, mine, phone)
  await notice('n', 40 * day - 9, 'accepted')
  for (const caller of [other, program]) await acknowledgePush(deps, caller, 'receipt of n')
  await acknowledgePush(deps, mine, 'of nothing')
  t.same(happened, [])
  await acknowledgePush(deps, mine, 'receipt of n')
  await acknowledgePush(deps, mine, 'receipt of n')
  t.same(happened, ['arrived'])
  t.match((await readNotifications(deps, mine)).channels, [{ health: { arrived: 1, typicalMs: 9 } }])
})
