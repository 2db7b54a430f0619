import '../../core/notification-routes.ts'
import type { Rest } from '../../../lib/client/index.ts'
import type { DeviceDb } from '../../core/device-db.ts'

interface PushLink {
  readonly rest: Pick<Rest, 'call'>
  readonly registration: Pick<ServiceWorkerRegistration, 'pushManager'>
  readonly db: Pick<DeviceDb, 'read' | 'write' | 'remove'>
  /** The address of the app, as its owner opens it: the target of notifications. */
  readonly app: string
}

/** The browser cannot reach its push service now, or does not allow subscriptions. */
export class NoPushService extends Error {
  override name = 'NoPushService'
}

/**
 * Registers this browser with the server, for page and worker alike. A subscription made for another server key is replaced,
 * and the server drops the old one. Rejects with `NoPushService`, or as `rest` does.
 */
export async function register({ rest, registration, db, app }: PushLink): Promise<void> {
  const { key } = await rest.call('readPushKey', {})
  const token = tokenOf(await subscribed(registration.pushManager, key), app)
  const before = await db.read(entry)
  await rest.call('addPushToken', { body: { token } })
  await db.write(entry, token)
  if (typeof before === 'string' && before !== token) await forget(rest, before)
}

/** Whether this browser is registered with the server, and not turned off since. */
export async function isRegistered(db: Pick<DeviceDb, 'read'>): Promise<boolean> {
  return typeof (await db.read(entry)) === 'string'
}

/** Ends the subscription first: if the server is unreachable, its token is useless then. */
export async function unregister({ rest, registration, db }: Omit<PushLink, 'app'>): Promise<void> {
  const [subscription, token] = await Promise.all([registration.pushManager.getSubscription(), db.read(entry)])
  await subscription?.unsubscribe()
  await db.remove(entry)
  if (typeof token === 'string') await forget(rest, token)
}

/** In the format of the server. */
function tokenOf(subscription: Pick<PushSubscription, 'toJSON'>, app: string): string {
  const { endpoint, keys } = subscription.toJSON()
  const said = JSON.stringify({ endpoint, keys: { p256dh: keys?.['p256dh'], auth: keys?.['auth'] }, app })
  return `WebPush[${toBase64Url(new TextEncoder().encode(said))}]`
}

const entry = 'push-token'

async function subscribed(manager: PushManager, key: string): Promise<PushSubscription> {
  try {
    const known = await manager.getSubscription()
    if (known && isFor(known, key)) return known
    await known?.unsubscribe()
    return await manager.subscribe({ userVisibleOnly: true, applicationServerKey: key })
  } catch (cause) {
    throw new NoPushService('The browser could not subscribe.', { cause })
  }
}

function isFor({ options }: PushSubscription, key: string): boolean {
  const known = options.applicationServerKey
  return known !== null && toBase64Url(new Uint8Array(known)) === key
}

function forget(rest: Pick<Rest, 'call'>, token: string): Promise<unknown> {
  return rest.call('removePushToken', { params: { token } })
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
