import type { Channel } from '../model/notifications/notifications.ts'
import { notifications as words } from '../words/notifications.ts'

/** All channels except this browser, which has its own card. */
export function othersOf(channels: readonly Channel[]): Channel[] {
  return channels.filter(({ isOwn, kind }) => !(isOwn && kind === 'web-push'))
}

export function nameOfChannel({ kind, isOwn, device }: Channel): string {
  const name = words.channelKinds[kind]
  if (isOwn) return words.channelHere(name)
  return device === null || device === '' ? name : words.channelOf(name, device)
}

/** What has arrived there lately. */
export function healthWords({ acknowledges, health: { sent, arrived } }: Channel): string {
  if (sent === 0) return words.channelNone
  return acknowledges ? words.channelArrived(arrived, sent) : words.channelSent(sent)
}

/** The same for one that no longer works. */
export function missingWords(channel: Channel): string {
  const { acknowledges, device, health } = channel
  return acknowledges
    ? words.elsewhereMissing(device || nameOfChannel(channel), health.arrived, health.sent)
    : words.elsewhereFails(nameOfChannel(channel))
}
