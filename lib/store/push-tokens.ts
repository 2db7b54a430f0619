import type { AccountId, DeviceId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'

export interface PushTokenRow {
  id: string
  token: string
  createdAt: number
  updatedAt: number
}

/** Where pushes for an account go. */
export interface PushTokenStore {
  addPushToken(
    account: AccountId,
    push: { id: string; token: string; device?: DeviceId | null; now: number },
    quotas?: Quotas
  ): Promise<void>
  listPushTokens(account: AccountId): Promise<PushTokenRow[]>
  removePushToken(account: AccountId, token: string): Promise<void>
}
