/** What one account may keep. */
export interface Quotas {
  sessions: number
  /** Of all sessions together. */
  messages: number
  /** Of the sealed text of all messages, of attachments with unfinished ones, and of artifacts. */
  bytes: number
  /** Of everything else: metadata and states, settings, values under keys, access keys, usage reports, notices and named tokens. */
  stateBytes: number
  machines: number
  artifacts: number
  /** The one that was not used for longest gives way to another. */
  devices: number
  pushTokens: number
  /** Keys once written count, also when their value was removed. */
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
  kvKeys: all,
  kvValueBytes: all,
  usageReports: all
}

/** A write the store refused because the account would keep more than it may; nothing of it was kept. */
export class OverQuota extends Error {
  override readonly name = 'OverQuota'
  readonly quota: keyof Quotas

  constructor(quota: keyof Quotas) {
    super(`The account may keep no more ${quota}.`)
    this.quota = quota
  }
}
