import fc from 'fast-check'
import { type NotificationSettings, notificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import * as v from '../../../lib/schema.ts'
import type { DeliveryResult, DueDelivery } from '../../../lib/store/notices.ts'
import { deviceId } from '../../store/contract/kit.ts'
import { quotas, type Steps, session, small, step, unordered, who } from './kit.ts'

const kind = fc.constantFrom('web-push' as const, 'ntfy' as const)
const id = fc.constantFrom('n1', 'n2', 'n3', 'n\u0000')
const push = fc.constantFrom('phone', 'Tablet')
const clears = fc.constantFrom([], ['ntfy' as const], ['ntfy' as const, 'web-push' as const])
const settings: fc.Arbitrary<NotificationSettings> = fc
  .constantFrom({}, { language: 'zh' as const, decision: 'silent' as const }, { previews: true })
  .map(given => v.parse(notificationSettings, given))

export const noticeSteps: Steps[] = [
  step('addPushToken', { who, push, device: small, quotas }, async ({ store, now }, { who, push, device, quotas }) => {
    const own = (await store.listDevices(who))[device]?.id ?? null
    return store.addPushToken(who, { id: `of ${push}`, token: `token of ${push}`, device: own, now }, quotas)
  }),
  step('listPushTokens', { who }, async ({ store }, { who }) => unordered(await store.listPushTokens(who))),
  step('removePushToken', { who, push }, ({ store }, { who, push }) => store.removePushToken(who, `token of ${push}`)),
  step('listChannels', { who }, async ({ store }, { who }) => unordered(await store.listChannels(who))),
  step('removeChannel', { who, push }, ({ store }, { who, push }) => store.removeChannel(who, `of ${push}`)),
  step('notification settings', { who, settings: fc.option(settings), device: small }, async ({ store }, { who, settings, device }) => {
    const own = (await store.listDevices(who))[device]?.id ?? deviceId('nowhere')
    const written = settings && (await store.writeNotificationSettings(who, own, settings))
    return [written, await store.readNotificationSettings(who, own)]
  }),
  step(
    'addNotice',
    {
      who,
      id,
      session: fc.option(session),
      preview: fc.option(fc.constantFrom('', 'a\u0000b')),
      to: fc.array(fc.record({ push, kind, isSilent: fc.boolean(), isCollected: fc.boolean(), unlessWatched: fc.boolean(), wait: small }), {
        maxLength: 3
      }),
      quotas
    },
    ({ store, now, step }, { who, id, session, preview, to, quotas }) => {
      const deliveries = to.map(({ push, kind, wait, ...how }, index) => ({
        channel: `of ${push}`,
        channelKind: kind,
        receipt: `receipt ${step} ${index}`,
        dueAt: now + wait * 10,
        ...how
      }))
      const draft = { id, kind: 'permission' as const, session, title: 'a title', body: '', preview, now, expiresAt: now + 100, deliveries }
      return store.addNotice(who, draft, quotas)
    }
  ),
  step(
    'settleNotices',
    { who, session, id: fc.option(id), clears, quotas },
    async ({ store, now }, { who, session, id, clears, quotas }) => {
      const { settled } = await store.settleNotices(who, { session, id: id ?? undefined, clears, now }, quotas)
      return unordered(settled)
    }
  ),
  step(
    'claimDeliveries',
    { kind, limit: fc.constantFrom(1, 2, 9), ofAnAccount: fc.constantFrom(1, 9), busy: fc.array(who, { maxLength: 1 }) },
    async (play, { kind, limit, ofAnAccount, busy }) => {
      const { store, now } = play
      play.claimed = await store.claimDeliveries({ kind, now, heldUntil: now + 60, limit, ofAnAccount, busy })
      return play.claimed.map(withoutKey)
    }
  ),
  step('endDeliveries', { which: small, result: fc.nat(5), clears }, async ({ store, now, claimed }, { which, result, clears }) => {
    const delivery = claimed[which]
    if (delivery) await store.endDeliveries([results(delivery, now)[result] as DeliveryResult], clears)
  }),
  step('nextDelivery', { kind }, ({ store }, { kind }) => store.nextDelivery(kind)),
  step('acknowledgeDelivery', { who, device: small, which: small }, async ({ store, now, claimed }, { who, device, which }) => {
    const own = (await store.listDevices(who))[device]?.id ?? deviceId('nowhere')
    return store.acknowledgeDelivery(who, own, claimed[which]?.receipt ?? 'none', now)
  }),
  step('deliveries', { who, id, ago: small, limit: fc.constantFrom(1, 9) }, async ({ store, now }, { who, id, ago, limit }) => [
    await store.listDeliveries(who, now - ago * 50, limit),
    unordered(await store.findDeliveries(who, id))
  ]),
  step('forgetNotices', { ago: small, limit: fc.constantFrom(1, 9) }, ({ store, now }, { ago, limit }) =>
    store.forgetNotices(now - ago * 100, limit)
  )
]

/** A key names a row of one store. */
const withoutKey = ({ key: _key, ...delivery }: DueDelivery) => delivery

const results = ({ key, attempts }: DueDelivery, now: number): DeliveryResult[] => [
  { key, outcome: 'accepted', reason: null, at: now },
  { key, outcome: 'accepted', reason: null, ticket: 'a ticket', lookAt: now + 20, at: now },
  { key, outcome: 'refused', reason: 'a \u0000 reason', at: now },
  { key, outcome: 'gone', reason: null, at: now },
  { key, outcome: 'waiting', reason: 'later', dueAt: now + 15, attempts },
  { key, outcome: 'expired', reason: null, at: now }
]
