import { computed, type ReadonlySignal, signal } from '@preact/signals'
import * as v from '../../../lib/schema.ts'
import '../../core/notification-routes.ts'
import { Refused } from '../../../lib/client/index.ts'
import { type NotificationSettings, notificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import type { ReplyOf } from '../../../lib/protocol/wire/routes.ts'
import { lockChoice } from '../../core/lock.ts'
import { language } from '../../words/language.ts'
import type { Live } from '../account/live.ts'

export type { NotificationSettings }
/** The notification channels of the account, and their delivery rates. */
export type Channel = ReplyOf<'readNotifications'>['channels'][number]
/** The result of the first attempt of a test on one channel. */
export type Tried = ReplyOf<'testNotification'>['channels'][number]

type Link = Pick<Live, 'rest'>
type Change = (settings: NotificationSettings) => Partial<NotificationSettings>

/** `unsupported`: the server is too old for this. */
export type Reading = { type: 'reading' } | { type: 'unreached' } | { type: 'unsupported' } | ({ type: 'loaded' } & LoadedNotifications)

interface LoadedNotifications {
  /** As chosen here, stored yet or not. */
  readonly settings: NotificationSettings
  readonly channels: readonly Channel[]
}

/**
 * The state of a change. Unstored changes stay selected here: `unreached` is retried, `refused` can be retried, and `no-device` means
 * that this is a legacy sign-in, which cannot store settings.
 */
export type Saving = 'nothing' | 'saving' | 'saved' | 'unreached' | 'refused' | 'no-device'

/** The notification settings of this device, stored on the server. */
export interface NotificationBook {
  readonly reading: ReadonlySignal<Reading>
  readonly saving: ReadonlySignal<Saving>
  read(): Promise<void>
  /** Shown immediately, then stored. Changes made meanwhile by another tab, or in a notification, are preserved. */
  change(change: Change): Promise<void>
  /** Retries storing unstored changes. */
  again(): Promise<void>
}

/** For each page of these settings: the current values, and how to change them. */
export interface NotificationContext extends LoadedNotifications {
  readonly link: Live
  readonly book: NotificationBook
}

const books = new WeakMap<Live['rest'], NotificationBook>()

/** One per link, so that unstored changes survive the screen where they were made. */
export function notificationsOf({ rest }: Link): NotificationBook {
  const book = books.get(rest) ?? openBook(rest)
  books.set(rest, book)
  return book
}

function openBook(rest: Live['rest']): NotificationBook {
  const stored = signal<Reading>({ type: 'reading' })
  const unstored = signal<readonly Change[]>([])
  const saving = signal<Saving>('nothing')
  let isSaving = false

  const reading = computed((): Reading => {
    const loaded = stored.value
    return loaded.type === 'loaded' ? { ...loaded, settings: unstored.value.reduce(changed, loaded.settings) } : loaded
  })

  async function readStored(): Promise<LoadedNotifications> {
    const { settings, channels } = await rest.call('readNotifications', {})
    return { settings: settings ?? v.parse(notificationSettings, {}), channels }
  }

  async function save(): Promise<void> {
    if (isSaving || unstored.peek().length === 0) return
    isSaving = true
    saving.value = 'saving'
    try {
      while (unstored.peek().length > 0) {
        const loaded = await readStored()
        const changes = unstored.peek()
        const settings = ofThisDevice(changes.reduce(changed, loaded.settings))
        await rest.call('writeNotifications', { body: { settings } })
        stored.value = { type: 'loaded', ...loaded, settings }
        unstored.value = unstored.peek().slice(changes.length)
      }
      saving.value = 'saved'
    } catch (error) {
      saving.value = whyUnsaved(error)
    } finally {
      isSaving = false
    }
  }

  return {
    reading,
    saving,
    async read() {
      try {
        stored.value = { type: 'loaded', ...(await readStored()) }
      } catch (error) {
        // The previous data is still worth showing.
        if (stored.peek().type === 'loaded') return
        stored.value = { type: error instanceof Refused && error.status === 404 ? 'unsupported' : 'unreached' }
      }
    },
    async change(change) {
      unstored.value = [...unstored.peek(), change]
      await save()
    },
    again: save
  }
}

function changed(settings: NotificationSettings, change: Change): NotificationSettings {
  return { ...settings, ...change(settings) }
}

/** Facts of the device itself: time zone, language, and that nothing is shown while it is locked. */
function ofThisDevice(settings: NotificationSettings): NotificationSettings {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return { ...settings, timeZone, language, previews: settings.previews && lockChoice.peek() === 'off' }
}

/** True if the server has another time zone, language or lock state than this device. */
export function isOutOfDate(settings: NotificationSettings): boolean {
  const own = ofThisDevice(settings)
  return own.timeZone !== settings.timeZone || own.language !== settings.language || own.previews !== settings.previews
}

function whyUnsaved(error: unknown): Saving {
  if (!(error instanceof Refused)) return 'unreached'
  return error.status === 404 ? 'no-device' : 'refused'
}

/** Sends a test to one channel; resolves to the result of the first attempt, undefined if the channel is gone. */
export async function sendTest({ rest }: Link, channel: string): Promise<Tried | undefined> {
  const { channels } = await rest.call('testNotification', { body: { channel } })
  return channels.find(({ id }) => id === channel)
}

export async function removeChannel({ rest }: Link, { id }: Channel): Promise<void> {
  await rest.call('removeChannel', { params: { id } })
}

/** Seven in the morning after the next night; after midnight, the current night counts as the next. */
export function tomorrowMorning(from: Date): number {
  const morning = new Date(from)
  morning.setHours(7, 0, 0, 0)
  if (from.getHours() >= 4) morning.setDate(morning.getDate() + 1)
  return morning.getTime()
}
