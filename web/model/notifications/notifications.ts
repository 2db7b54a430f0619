import { computed, type ReadonlySignal, signal } from '@preact/signals'
import * as v from '../../../lib/schema.ts'
import '../../core/later-routes.ts'
import { Refused } from '../../../lib/client/index.ts'
import { type NotificationSettings, notificationSettings } from '../../../lib/protocol/wire/notifications.ts'
import type { ReplyOf } from '../../../lib/protocol/wire/routes.ts'
import { lockChoice } from '../../core/lock.ts'
import { language } from '../../words/language.ts'
import type { Live } from '../account/live.ts'

export type { NotificationSettings }
/** Where notifications of the account go, and how well they arrive there. */
export type Channel = ReplyOf<'readNotifications'>['channels'][number]
/** What came of the first try of a test on one channel. */
export type Tried = ReplyOf<'testNotification'>['channels'][number]

type Link = Pick<Live, 'rest'>
type Change = (settings: NotificationSettings) => Partial<NotificationSettings>

/** `untold`: the server is too old for this. */
export type Reading = { type: 'reading' } | { type: 'unreached' } | { type: 'untold' } | ({ type: 'told' } & ToldNotifications)

interface ToldNotifications {
  /** As they were chosen here, stored yet or not. */
  readonly settings: NotificationSettings
  readonly channels: readonly Channel[]
}

/**
 * Where a change has come to. What is not stored stays chosen here: `unreached` is tried again, `refused` may be, and `no-device` says
 * that this sign-in is of the older way and can keep no settings.
 */
export type Saving = 'nothing' | 'saving' | 'saved' | 'unreached' | 'refused' | 'no-device'

/** The notification settings of this device, kept by the server. */
export interface NotificationBook {
  readonly reading: ReadonlySignal<Reading>
  readonly saving: ReadonlySignal<Saving>
  read(): Promise<void>
  /** Shown at once, then stored. What another tab, or a notification, changed meanwhile stays as it is there. */
  change(change: Change): Promise<void>
  /** Tries again to store what is not stored. */
  again(): Promise<void>
}

/** What each page of these settings is given: what holds, and how to change it. */
export interface NotificationContext extends ToldNotifications {
  readonly link: Live
  readonly book: NotificationBook
}

const books = new WeakMap<Live['rest'], NotificationBook>()

/** One for each link, so that what could not be stored outlives the screen where it was chosen. */
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
    const told = stored.value
    return told.type === 'told' ? { ...told, settings: unstored.value.reduce(changed, told.settings) } : told
  })

  async function readStored(): Promise<ToldNotifications> {
    const { settings, channels } = await rest.call('readNotifications', {})
    return { settings: settings ?? v.parse(notificationSettings, {}), channels }
  }

  async function save(): Promise<void> {
    if (isSaving || unstored.peek().length === 0) return
    isSaving = true
    saving.value = 'saving'
    try {
      while (unstored.peek().length > 0) {
        const told = await readStored()
        const changes = unstored.peek()
        const settings = ofThisDevice(changes.reduce(changed, told.settings))
        await rest.call('writeNotifications', { body: { settings } })
        stored.value = { type: 'told', ...told, settings }
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
        stored.value = { type: 'told', ...(await readStored()) }
      } catch (error) {
        // What was read before is still worth being seen.
        if (stored.peek().type === 'told') return
        stored.value = { type: error instanceof Refused && error.status === 404 ? 'untold' : 'unreached' }
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

/** What the device itself says, whatever is chosen: where it is, what it speaks, and that nothing is shown while it is locked. */
function ofThisDevice(settings: NotificationSettings): NotificationSettings {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return { ...settings, timeZone, language, previews: settings.previews && lockChoice.peek() === 'off' }
}

/** True when the server would judge by another time zone, language or lock than this device has. */
export function isOutOfDate(settings: NotificationSettings): boolean {
  const own = ofThisDevice(settings)
  return own.timeZone !== settings.timeZone || own.language !== settings.language || own.previews !== settings.previews
}

function whyUnsaved(error: unknown): Saving {
  if (!(error instanceof Refused)) return 'unreached'
  return error.status === 404 ? 'no-device' : 'refused'
}

/** Sends a test to one channel; resolves to what came of the first try, undefined when the channel is gone. */
export async function sendTest({ rest }: Link, channel: string): Promise<Tried | undefined> {
  const { channels } = await rest.call('testNotification', { body: { channel } })
  return channels.find(({ id }) => id === channel)
}

export async function removeChannel({ rest }: Link, { id }: Channel): Promise<void> {
  await rest.call('removeChannel', { params: { id } })
}

/** Seven in the morning after the next night; who is up after midnight still has that night before them. */
export function tomorrowMorning(from: Date): number {
  const morning = new Date(from)
  morning.setHours(7, 0, 0, 0)
  if (from.getHours() >= 4) morning.setDate(morning.getDate() + 1)
  return morning.getTime()
}
