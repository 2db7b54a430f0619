import type { Check } from '../contracts/check.ts'
import { accessKeyContract } from './contract/access-keys.ts'
import { artifactContract } from './contract/artifacts.ts'
import { attachmentContract } from './contract/attachments.ts'
import { cellContract } from './contract/cells.ts'
import { changeContract } from './contract/changes.ts'
import { expiryContract } from './contract/expiry.ts'
import { isolationContract } from './contract/isolation.ts'
import type { ContractPart, StorePlace } from './contract/kit.ts'
import { kvContract } from './contract/kv.ts'
import { lifeContract } from './contract/lives.ts'
import { messageContract } from './contract/messages.ts'
import { namesakeContract } from './contract/namesakes.ts'
import { noticeContract } from './contract/notices.ts'
import { ownCountContract } from './contract/own-counts.ts'
import { pairingRequestContract } from './contract/pairing-requests.ts'
import { pairingContract } from './contract/pairings.ts'
import { quotaContract } from './contract/quotas.ts'
import { removalContract } from './contract/removals.ts'
import { restartContract } from './contract/restart.ts'
import { rowContract } from './contract/rows.ts'
import { sessionListContract } from './contract/session-lists.ts'
import { signInContract } from './contract/sign-in.ts'
import { signUpContract } from './contract/sign-up.ts'
import { storageContract } from './contract/storage.ts'
import { tokenContract } from './contract/tokens.ts'
import { turnContract } from './contract/turns.ts'
import { usageContract } from './contract/usage.ts'
import { workContract } from './contract/work.ts'

/** What every driver of `Store` keeps. `place` makes an empty place for a store; opening it again finds what was stored. */
export function storeContract(t: Check, place: StorePlace): void {
  for (const part of Object.values(partsOfStore)) part(t, place)
}

/** The whole contract, by what each part is about. */
export const partsOfStore: Readonly<Record<string, ContractPart>> = {
  'sign-in': signInContract,
  expiry: expiryContract,
  'sign-up': signUpContract,
  tokens: tokenContract,
  quotas: quotaContract,
  pairings: pairingContract,
  'pairing requests': pairingRequestContract,
  rows: rowContract,
  'session lists': sessionListContract,
  removals: removalContract,
  cells: cellContract,
  messages: messageContract,
  kv: kvContract,
  artifacts: artifactContract,
  attachments: attachmentContract,
  'access keys': accessKeyContract,
  usage: usageContract,
  storage: storageContract,
  changes: changeContract,
  notices: noticeContract,
  work: workContract,
  lives: lifeContract,
  turns: turnContract,
  isolation: isolationContract,
  namesakes: namesakeContract,
  'own counts': ownCountContract,
  restart: restartContract
}
