import { randomUUID } from 'node:crypto'
import type { AccountId } from '../../../lib/protocol/wire/ids.ts'
import { notificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../lib/schema.ts'
import type { DeliveryDraft, DueDelivery, NoticeDraft } from '../../../lib/store/notices.ts'
import type { Store } from '../../../lib/store/store.ts'
import type { Check } from '../../contracts/check.ts'
import { deviceId, newAccount, newSession, openFor, type StorePlace, sessionId, signInAs, tokenDraft } from './kit.ts'

const session = sessionId('s')
const clears = ['ntfy'] as const

const delivery = (more: Partial<DeliveryDraft> = {}): DeliveryDraft => ({
  channel: 'phone',
  channelKind: 'web-push',
  receipt: randomUUID(),
  dueAt: 10,
  isSilent: false,
  isCollected: false,
  unlessWatched: false,
  ...more
})

const notice = (id: string, deliveries: DeliveryDraft[], more: Partial<NoticeDraft> = {}): NoticeDraft => ({
  id,
  kind: 'permission',
  session,
  title: '',
  body: '',
  preview: null,
  now: 10,
  expiresAt: 1000,
  deliveries,
  ...more
})

const claim = (store: Store, more: Partial<Parameters<Store['claimDeliveries']>[0]> = {}) =>
  store.claimDeliveries({ kind: 'web-push', now: 10, heldUntil: 70, limit: 10, ofAnAccount: 10, busy: [], ...more })

const accepted = ({ key }: Pick<DueDelivery, 'key'>, at = 11) => ({ key, outcome: 'accepted' as const, reason: null, at })
const outcomes = async (store: Store, account: AccountId, id: string) =>
  (await store.findDeliveries(account, id)).map(({ outcome }) => outcome)

async function accountWithPhone(store: Store, name: string, token = 'WebPush[x]') {
  const account = await newAccount(store, name)
  const device = (await store.listDevices(account))[0]?.id ?? deviceId('none')
  await store.addPushToken(account, { id: 'phone', token, device, now: 1 })
  return { account, device }
}

export function noticeContract(t: Check, place: StorePlace): void {
  t.test('a notice is claimed by one worker, held, and claimed again if that never returns', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    await store.addNotice(account, notice('n', [delivery()]))
    t.same(await claim(store, { now: 9 }), [], 'it is not due yet')
    t.match(await claim(store), [
      { account, token: 'WebPush[x]', what: 'show', attempts: 1, notice: { id: 'n', kind: 'permission', createdAt: 10 } }
    ])
    t.same(await claim(store, { now: 69 }), [])
    t.equal(await store.nextDelivery('web-push'), 70)
    const [again] = await claim(store, { now: 70 })
    t.match(again, { attempts: 2, notice: { id: 'n' } })
    await store.endDeliveries([accepted(again as DueDelivery)], clears)
    t.same(await claim(store, { now: 999 }), [])
    t.same(await outcomes(store, account, 'n'), ['accepted'])
    t.equal(await store.nextDelivery('web-push'), undefined)
  })

  t.test('a repeated notice is sent once, even if settled before it arrived', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    t.equal(await store.addNotice(account, notice('n', [delivery()])), 'added')
    t.equal(await store.addNotice(account, notice('n', [delivery()])), 'known')
    t.equal((await claim(store)).length, 1)
    t.same(await store.settleNotices(account, { session, id: 'later', clears, now: 11 }), { settled: ['later'] })
    t.equal(await store.addNotice(account, notice('later', [delivery()])), 'known')
    t.same(await claim(store), [])
  })

  t.test('a settled notice is not sent, and a shown one is cleared where possible', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    await store.addPushToken(account, { id: 'watch', token: 'Ntfy[x]', now: 1 })
    const onWatch = { channel: 'watch', channelKind: 'ntfy' } as const
    await store.addNotice(account, notice('n', [delivery(), delivery({ dueAt: 500 }), delivery(onWatch)]))
    const [onPhone] = await claim(store)
    const [ntfy] = await claim(store, { kind: 'ntfy' })
    await store.endDeliveries([accepted(onPhone as DueDelivery), accepted(ntfy as DueDelivery)], clears)
    t.same(await store.settleNotices(account, { session, id: undefined, clears, now: 20 }), { settled: ['n'] })
    t.same((await outcomes(store, account, 'n')).toSorted(), ['accepted', 'accepted', 'settled'])
    t.same(await claim(store, { now: 600 }), [], 'a browser cannot close without showing')
    t.match(await claim(store, { kind: 'ntfy', now: 20 }), [{ what: 'clear', token: 'Ntfy[x]', notice: { id: 'n' } }])
    t.same(await store.settleNotices(account, { session, id: undefined, clears, now: 21 }), { settled: [] })
  })

  t.test('a notice settled in flight is cleared if accepted, and not retried otherwise', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann', 'Ntfy[x]')
    await store.addNotice(account, notice('went', [delivery({ channelKind: 'ntfy' })]))
    await store.addNotice(account, notice('failed', [delivery({ channelKind: 'ntfy' })]))
    const due = await claim(store, { kind: 'ntfy' })
    const keyOf = (id: string) => due.find(one => one.notice.id === id)?.key ?? -1
    await store.settleNotices(account, { session, id: undefined, clears, now: 12 })
    const again = { key: keyOf('failed'), outcome: 'waiting', reason: 'HTTP 503', dueAt: 30, attempts: 1 } as const
    await store.endDeliveries([accepted({ key: keyOf('went') }, 13), again], clears)
    t.match(await claim(store, { kind: 'ntfy', now: 99 }), [{ what: 'clear', notice: { id: 'went' } }])
    t.same(await outcomes(store, account, 'failed'), ['settled'])
  })

  t.test("a delivery ends as expired, as gone with its channel, or with its provider's result", async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    await store.addNotice(account, notice('old', [delivery()], { expiresAt: 12 }))
    await store.addNotice(account, notice('lost', [delivery({ channel: 'never there' })]))
    t.same(await claim(store, { now: 12 }), [])
    t.same([await outcomes(store, account, 'old'), await outcomes(store, account, 'lost')], [['expired'], ['gone']])
    await store.addNotice(account, notice('gone', [delivery()]))
    const [due] = await claim(store)
    await store.endDeliveries([{ key: due?.key ?? -1, outcome: 'gone', reason: 'HTTP 410', at: 11 }], clears)
    t.same(await store.listPushTokens(account), [], 'the token went with it')
    t.match(await store.listDeliveries(account, 0, 10), [
      { kind: 'permission', outcome: 'gone', reason: 'HTTP 410' },
      { outcome: 'gone' },
      { outcome: 'expired' }
    ])
  })

  t.test('an attempt that ends after another has followed does not make it due again [M7]', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    await store.addNotice(account, notice('n', [delivery()]))
    const [stopped] = await claim(store, { heldUntil: 20 })
    const [next] = await claim(store, { now: 20, heldUntil: 80 })
    t.match([stopped, next], [{ attempts: 1 }, { attempts: 2 }])
    const late = (due: DueDelivery | undefined) =>
      ({ key: due?.key ?? -1, outcome: 'waiting', reason: null, dueAt: 21, attempts: due?.attempts ?? -1 }) as const
    await store.endDeliveries([late(stopped)], clears)
    t.same(await claim(store, { now: 21 }), [])
    await store.endDeliveries([late(next)], clears)
    t.match(await claim(store, { now: 21 }), [{ attempts: 3 }])
  })

  t.test('a ticket is checked later, for as long as its channel exists', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    await store.addNotice(account, notice('n', [delivery()], { expiresAt: 50 }))
    const [due] = await claim(store)
    await store.endDeliveries([{ ...accepted(due as DueDelivery), ticket: 'T', lookAt: 900 }], clears)
    t.same(await outcomes(store, account, 'n'), ['accepted'])
    const [look] = await claim(store, { now: 900, heldUntil: 960 })
    t.match(look, { what: 'look', ticket: 'T' }, 'also when the notice itself has expired')
    await store.endDeliveries([{ key: look?.key ?? -1, outcome: 'waiting', reason: null, dueAt: 950, attempts: 2 }], clears)
    t.same(await outcomes(store, account, 'n'), ['accepted'])
    await store.removeChannel(account, 'phone')
    t.same(await claim(store, { now: 950 }), [])
    t.same([await outcomes(store, account, 'n'), await store.nextDelivery('web-push')], [['accepted'], undefined])
  })

  t.test('collected notices of a channel are sent as one', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    for (const id of ['1', '2', '3']) await store.addNotice(account, notice(id, [delivery({ isCollected: true })]))
    await store.addNotice(account, notice('own', [delivery()]))
    await store.addNotice(account, notice('later', [delivery({ isCollected: true, dueAt: 99 })]))
    t.match(await claim(store), [{ notice: { id: '1' }, isCollected: true }, { notice: { id: 'own' } }])
    t.same([await outcomes(store, account, '2'), await outcomes(store, account, 'later')], [['collected'], ['waiting']])
  })

  t.test('a notice of its own takes no collected one with it', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    await store.addNotice(account, notice('own', [delivery()]))
    await store.addNotice(account, notice('1', [delivery({ isCollected: true })]))
    t.match(await claim(store), [{ notice: { id: 'own' } }, { notice: { id: '1' } }])
  })

  t.test('accounts take turns, and a wrong clock delays nothing [C1]', async t => {
    const store = await openFor(t, place)
    const [{ account: ann }, { account: bob }] = [await accountWithPhone(store, 'ann'), await accountWithPhone(store, 'bob')]
    for (const id of ['1', '2', '3']) await store.addNotice(ann, notice(id, [delivery()]))
    await store.addNotice(bob, notice('1', [delivery({ dueAt: 11 })]))
    const accounts = (due: DueDelivery[]) => due.map(({ account }) => account)
    t.same(accounts(await claim(store, { now: 11, busy: [ann] })), [bob])
    t.same(accounts(await claim(store, { now: 11, ofAnAccount: 2 })), [ann, ann])
    t.same(accounts(await claim(store, { now: 11, limit: 1 })), [ann])
    const year = 365 * 24 * 60 * 60 * 1000
    await store.addNotice(bob, notice('2', [delivery({ dueAt: year })], { expiresAt: 2 * year }))
    t.match(await claim(store, { now: 12 }), [{ account: bob, notice: { id: '2' } }])
  })

  t.test('an arrival counts once, and only for the device that registered the channel', async t => {
    const store = await openFor(t, place)
    const { account, device } = await accountWithPhone(store, 'ann')
    const other = deviceId('device of another')
    await store.signIn(
      signInAs('ann', { token: () => tokenDraft('account', 'another', 'a tablet', { device: { id: other, publicKey: null } }) })
    )
    const eve = await accountWithPhone(store, 'eve')
    await store.addNotice(account, notice('n', [delivery({ receipt: 'R' })]))
    const [due] = await claim(store)
    t.equal(await store.acknowledgeDelivery(account, other, 'R', 15), 'missing')
    t.equal(await store.acknowledgeDelivery(eve.account, eve.device, 'R', 15), 'missing')
    t.equal(await store.acknowledgeDelivery(account, device, 'R', 15), 'arrived')
    t.equal(await store.acknowledgeDelivery(account, device, 'R', 16), 'missing')
    await store.endDeliveries([accepted(due as DueDelivery, 17)], clears)
    t.match(
      await store.findDeliveries(account, 'n'),
      [{ outcome: 'arrived', arrivedAt: 15, sentAt: 17 }],
      'also before the provider answered'
    )
  })

  t.test('settings belong to their device and set the language of its channels', async t => {
    const store = await openFor(t, place)
    const { account, device } = await accountWithPhone(store, 'ann')
    const eve = await accountWithPhone(store, 'eve')
    const settings = v.parse(notificationSettings, { language: 'zh', decision: 'silent' })
    t.equal(await store.readNotificationSettings(account, device), null)
    t.equal(await store.writeNotificationSettings(eve.account, device, settings), 'missing')
    t.equal(await store.writeNotificationSettings(account, device, settings), 'written')
    t.same(await store.readNotificationSettings(account, device), settings)
    t.match(await store.listChannels(account), [{ id: 'phone', device, settings }])
    t.match(await store.listChannels(eve.account), [{ settings: null }])
    await store.addNotice(account, notice('n', [delivery()]))
    t.match(await claim(store), [{ language: 'zh' }])
    await store.removeDevice(account, device)
    t.same(await store.listChannels(account), [])
  })

  t.test('a delivery has what was written, and the preview only if its device asked for previews', async t => {
    const store = await openFor(t, place)
    const { account, device } = await accountWithPhone(store, 'ann')
    const words = { kind: 'done', title: 'Build', body: 'It is done.', preview: 'All is green.', now: 9, expiresAt: 1000 } as const
    const ways = { isSilent: true, isCollected: false, unlessWatched: true }
    await store.addNotice(account, notice('n', [delivery({ receipt: 'R', ...ways })], words))
    const { kind, title, body } = words
    const shown = { id: 'n', kind, session, title, body, preview: null, createdAt: 9, expiresAt: 1000 }
    const [due] = await claim(store)
    t.same(due, {
      ...{ key: due?.key, account, token: 'WebPush[x]', channel: 'phone', receipt: 'R', what: 'show', ticket: null, attempts: 1 },
      ...{ ...ways, language: 'en', notice: shown }
    })
    await store.writeNotificationSettings(account, device, v.parse(notificationSettings, { previews: true }))
    t.match(await claim(store, { now: 70 }), [{ notice: { title, body, preview: 'All is green.' } }])
    await store.addNotice(account, notice('m', [delivery({ isSilent: false, isCollected: true, unlessWatched: false })]))
    t.match(await claim(store), [{ isSilent: false, isCollected: true, unlessWatched: false }])
  })

  t.test('of two accounts with the same names each has its own channels, settings and notices [I1] [I3]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await accountWithPhone(store, 'ann'), await accountWithPhone(store, 'eve', 'WebPush[y]')]
    const settings = v.parse(notificationSettings, { language: 'zh' })
    for (const { account } of [ann, eve])
      t.equal(await store.addNotice(account, notice('n', [delivery({ receipt: `R of ${account}` }), delivery({ dueAt: 500 })])), 'added')
    await store.writeNotificationSettings(ann.account, ann.device, settings)
    const before = await ofAccount(store, ann)
    t.match(before, { channels: [{ token: 'WebPush[x]' }], settings, listed: [{}, {}], found: [{}, {}] })

    t.equal(await store.readNotificationSettings(eve.account, ann.device), null)
    t.equal(await store.writeNotificationSettings(eve.account, ann.device, v.parse(notificationSettings, {})), 'missing')
    t.equal(await store.acknowledgeDelivery(eve.account, ann.device, `R of ${ann.account}`, 15), 'missing')
    t.equal(await store.acknowledgeDelivery(eve.account, eve.device, `R of ${ann.account}`, 15), 'missing')
    t.equal(await store.acknowledgeDelivery(eve.account, ann.device, `R of ${eve.account}`, 15), 'missing')
    t.same(await store.settleNotices(eve.account, { session, id: undefined, clears, now: 11 }), { settled: ['n'] })
    t.same(await store.settleNotices(eve.account, { session, id: 'n', clears, now: 11 }), { settled: [] })
    await store.removeChannel(eve.account, 'phone')
    t.same(await store.listChannels(eve.account), [])
    t.same(await ofAccount(store, ann), before)
    t.same(
      (await claim(store)).map(({ token }) => token),
      ['WebPush[x]']
    )
  })

  t.test('notices are removed with their session and account, and after their time [I2]', async t => {
    const store = await openFor(t, place)
    const { account } = await accountWithPhone(store, 'ann')
    const { account: eve } = await accountWithPhone(store, 'eve')
    const own = await newSession(store, account, 'own')
    for (const owner of [account, eve]) await store.addNotice(owner, notice('n', [delivery()], { session: own }))
    await store.remove(account, { of: 'session', id: own })
    t.same([await outcomes(store, account, 'n'), await outcomes(store, eve, 'n')], [[], ['waiting']])
    await store.addNotice(account, notice('old', [delivery()], { now: 1 }))
    await store.addNotice(account, notice('new', [delivery()], { now: 9 }))
    t.equal(await store.forgetNotices(9, 10), 1)
    t.same([await outcomes(store, account, 'old'), await outcomes(store, account, 'new')], [[], ['waiting']])
    await store.removeAccount(eve)
    t.same(
      (await claim(store)).map(({ account }) => account),
      [account]
    )
  })

  t.test('waiting deliveries survive a restart', async t => {
    const open = place(t)
    const before = await open()
    const { account } = await accountWithPhone(before, 'ann')
    await before.addNotice(account, notice('n', [delivery()]))
    await claim(before)
    await before.close()
    const store = await open()
    t.teardown(() => store.close())
    t.match(await claim(store, { now: 70 }), [{ attempts: 2, notice: { id: 'n' } }])
  })
}

async function ofAccount(store: Store, { account, device }: Awaited<ReturnType<typeof accountWithPhone>>) {
  return {
    channels: await store.listChannels(account),
    settings: await store.readNotificationSettings(account, device),
    listed: await store.listDeliveries(account, 0, 100),
    found: await store.findDeliveries(account, 'n')
  }
}
