import { accountTopic } from '../../bus/bus.ts'
import type { Sealed, SessionId } from '../../protocol/wire/ids.ts'
import type { Caller, Deps } from '../deps.ts'

/** Passes text that still grows on to the apps. Nothing of it is stored. */
export function passPartial({ bus }: Pick<Deps, 'bus'>, { account, skip }: Caller, session: SessionId, partial: Sealed): void {
  bus.publish(accountTopic(account), { type: 'signal', audience: 'apps', skip, signal: { type: 'partial', session, partial } })
}
