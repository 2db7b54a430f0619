import type { TokenDraft } from '../../store/rows.ts'
import type { Store } from '../../store/store.ts'
import type { Listeners } from './events.ts'

/** The same store, reporting events once they are durable. */
export function watchStore(store: Store, { onAudit, onEvent }: Listeners, now: () => number): Store {
  return overlaid(store, { ...audited(store, onAudit, now), ...observed(store, onEvent, now) })
}

function audited(store: Store, tell: Listeners['onAudit'], now: () => number): Partial<Store> {
  return {
    async signIn(ask) {
      const minted = remembered(ask.token)
      const outcome = await store.signIn({ ...ask, token: minted.mint })
      const at = now()
      if (outcome.result !== 'signed-in') {
        tell({ type: 'sign-in-refused', reason: outcome.result, at })
        return outcome
      }
      const { account, created } = outcome
      const { id, label } = minted.draft()
      if (created) tell({ type: 'account-created', account, at })
      tell({ type: 'signed-in', account, token: id, label, at })
      return outcome
    },
    async pollPairing(ask) {
      const minted = remembered(ask.token)
      const outcome = await store.pollPairing({ ...ask, token: minted.mint })
      if (outcome.state === 'delivered') tell({ type: 'device-paired', account: outcome.account, ...namesOf(minted.draft()), at: now() })
      return outcome
    },
    async pollPairingRequest(ask) {
      let draft: TokenDraft | undefined
      const token: typeof ask.token = (...given) => {
        const minted = ask.token(...given)
        draft = minted.draft
        return minted
      }
      const outcome = await store.pollPairingRequest({ ...ask, token })
      // A repeat is not a new pairing.
      if (draft && outcome !== 'unknown' && outcome.state === 'delivered')
        tell({ type: 'device-paired', account: outcome.account, ...namesOf(draft), at: now() })
      return outcome
    },
    async answerPairing(answer) {
      const outcome = await store.answerPairing(answer)
      if (outcome === 'answered') tell({ type: 'pairing-approved', account: answer.account, at: now() })
      return outcome
    },
    async approvePairingRequest(ask) {
      const outcome = await store.approvePairingRequest(ask)
      if (outcome === 'approved') tell({ type: 'pairing-approved', account: ask.account, at: now() })
      return outcome
    },
    async addToken(account, draft) {
      await store.addToken(account, draft)
      tell({ type: 'token-created', account, token: draft.id, label: draft.label, at: now() })
    },
    async revokeToken(account, token) {
      const outcome = await store.revokeToken(account, token)
      if (outcome === 'revoked') tell({ type: 'token-revoked', account, token, at: now() })
      return outcome
    },
    async removeDevice(account, device) {
      const outcome = await store.removeDevice(account, device)
      if (outcome === 'missing') return outcome
      const at = now()
      tell({ type: 'device-removed', account, device, at })
      for (const token of outcome.tokens) tell({ type: 'token-revoked', account, token, at })
      return outcome
    },
    async removeAccount(account) {
      const outcome = await store.removeAccount(account)
      if (typeof outcome === 'string') return outcome
      const at = now()
      for (const token of outcome.tokens) tell({ type: 'token-revoked', account, token, at })
      tell({ type: 'account-removed', account, at })
      return outcome
    }
  }
}

// Arguments are passed on whole: a store's method may get more of them later.
function observed(store: Store, tell: Listeners['onEvent'], now: () => number): Partial<Store> {
  return {
    async openSession(...ask) {
      const opened = await store.openSession(...ask)
      if (opened.created) tell({ type: 'session-opened', account: ask[0], session: opened.session.id, at: now() })
      return opened
    },
    async openMachine(...ask) {
      const opened = await store.openMachine(...ask)
      if (opened.created) tell({ type: 'machine-opened', account: ask[0], machine: opened.machine.id, at: now() })
      return opened
    },
    async appendMessages(...ask) {
      const outcome = await store.appendMessages(...ask)
      if (typeof outcome === 'string' || outcome.added.length === 0) return outcome
      const [account, session] = ask
      const messages = outcome.added.map(({ seq, localId }) => ({ seq, localId }))
      tell({ type: 'messages-stored', account, session, messages, at: now() })
      return outcome
    },
    async writeCell(...ask) {
      const outcome = await store.writeCell(...ask)
      const [account, value] = ask
      if (outcome !== 'missing' && outcome.written) tell({ type: 'value-written', account, value, version: outcome.version, at: now() })
      return outcome
    },
    async remove(...ask) {
      const outcome = await store.remove(...ask)
      const [account, row] = ask
      if (outcome !== 'missing') tell({ type: 'removed', account, row, at: now() })
      return outcome
    }
  }
}

// Everything else is the store's own method, whatever kind of object an embedder's store is.
function overlaid(store: Store, watched: Partial<Store>): Store {
  return new Proxy(store, {
    get(of, name) {
      const own: unknown = Reflect.get(watched, name)
      if (own !== undefined) return own
      const method: unknown = Reflect.get(of, name)
      return typeof method === 'function' ? method.bind(of) : method
    }
  })
}

function namesOf({ id, kind, label }: TokenDraft) {
  return { token: id, kind, label }
}

/** The token requested by a transaction. */
function remembered<Asked extends unknown[]>(mint: (...asked: Asked) => TokenDraft) {
  let made: TokenDraft | undefined
  return {
    mint(...asked: Asked): TokenDraft {
      made = mint(...asked)
      return made
    },
    draft(): TokenDraft {
      if (!made) throw new Error('The store let somebody in without a token.')
      return made
    }
  }
}
