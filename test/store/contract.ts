import type { Test } from 'tap'
import { cellContract } from './contract/cells.ts'
import { isolationContract } from './contract/isolation.ts'
import type { StorePlace } from './contract/kit.ts'
import { messageContract } from './contract/messages.ts'
import { pairingContract } from './contract/pairings.ts'
import { restartContract } from './contract/restart.ts'
import { rowContract } from './contract/rows.ts'
import { signInContract } from './contract/sign-in.ts'
import { turnContract } from './contract/turns.ts'

/** What every driver of `Store` keeps. `place` makes an empty place for a store; opening it again finds what was stored. */
export function storeContract(t: Test, place: StorePlace): void {
  for (const part of [
    signInContract,
    pairingContract,
    rowContract,
    cellContract,
    messageContract,
    turnContract,
    isolationContract,
    restartContract
  ]) {
    part(t, place)
  }
}
