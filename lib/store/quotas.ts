/** Storage limits of one account. */
export interface Quotas {
  sessions: number
  /** Of all sessions together. */
  messages: number
  /** The sealed text of all messages, attachments including unfinished ones, and artifacts. */
  bytes: number
  /** Of everything else: metadata and states, settings, values under keys, access keys, usage reports, notices and named tokens. */
  stateBytes: number
  machines: number
  artifacts: number
  /** The least recently used one makes room for another. */
  devices: number
  pushTokens: number
  /** The oldest make room for another, with their results. */
  notices: number
  /** Keys once written count, even when their value was removed. */
  kvKeys: number
  kvValueBytes: number
  usageReports: number
}

const gib = 1024 ** 3

export const defaultQuotas: Quotas = {
  sessions: 10_000,
  messages: 5_000_000,
  bytes: 20 * gib,
  stateBytes: 4 * gib,
  machines: 256,
  artifacts: 10_000,
  devices: 64,
  pushTokens: 16,
  notices: 10_000,
  kvKeys: 10_000,
  kvValueBytes: 64 * 1024,
  usageReports: 20_000
}

const all = Number.POSITIVE_INFINITY
export const noQuotas: Quotas = {
  sessions: all,
  messages: all,
  bytes: all,
  stateBytes: all,
  machines: all,
  artifacts: all,
  devices: all,
  pushTokens: all,
  notices: all,
  kvKeys: all,
  kvValueBytes: all,
  usageReports: all
}

/** A write rejected because the account would exceed its quota; nothing of it was stored. */
export class OverQuota extends Error {
  override readonly name = 'OverQuota'
  readonly quota: keyof Quotas

  constructor(quota: keyof Quotas) {
    super(`The account may not store more ${quota}.`)
    this.quota = quota
  }
}
