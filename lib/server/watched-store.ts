import type { AccountId } from '../protocol/wire/ids.ts'
import type { Store, TokenDraft } from '../store/store.ts'
import type { Listeners } from './told.ts'

/** The same store, whose facts are told once they are durable. */
export function watchStore(store: Store, { onAudit: audit, onEvent }: Listeners, now: () => number): Store {
  const watched: Partial<Store> = {
    async signIn(ask) {
      const minted = remembered(ask.token)
      const outcome = await store.signIn({ ...ask, token: minted.mint })
      const at = now()
      if (outcome.result !== 'signed-in') audit({ type: 'sign-in-refused', reason: outcome.result, at })
      else {
        const { account, created } = outcome
        if (created) audit({ type: 'account-created', account, at })
        const { id, label } = minted.draft()
        audit({ type: 'signed-in', account, token: id, label, at })
      }
      return outcome
    },
    async pollPairing(ask) {
      const minted = remembered(ask.token)
      const outcome = await store.pollPairing({ ...ask, token: minted.mint })
      if (outcome.state === 'delivered') {
        const { id, kind, label } = minted.draft()
        audit({ type: 'device-paired', account: outcome.account, token: id, kind, label, at: now() })
      }
      return outcome
    },
    async answerPairing(answer) {
      const outcome = await store.answerPairing(answer)
      if (outcome === 'answered') audit({ type: 'pairing-approved', account: answer.account, kind: answer.kind, at: now() })
      return outcome
    },
    async revokeToken(account, token) {
      const outcome = await store.revokeToken(account, token)
      if (outcome === 'revoked') audit({ type: 'token-revoked', account, token, at: now() })
      return outcome
    },
    async removeDevice(account, device) {
      const outcome = await store.removeDevice(account, device)
      if (outcome === 'missing') return outcome
      const at = now()
      audit({ type: 'device-removed', account, device, at })
      for (const token of outcome.tokens) audit({ type: 'token-revoked', account, token, at })
      return outcome
    },
    async addToken(account, draft) {
      await store.addToken(account, draft)
      audit({ type: 'token-created', account, token: draft.id, label: draft.label, at: now() })
    },
    async openSession(account, draft, quotas) {
      const opened = await store.openSession(account, draft, quotas)
      if (opened.created) onEvent({ type: 'session-opened', account, session: opened.session.id, at: now() })
      return opened
    },
    async openMachine(account, draft) {
      const opened = await store.openMachine(account, draft)
      if (opened.created) onEvent({ type: 'machine-opened', account, machine: opened.machine.id, at: now() })
      return opened
    },
    async appendMessages(account, session, drafts, at, quotas) {
      const outcome = await store.appendMessages(account, session, drafts, at, quotas)
      if (typeof outcome !== 'string' && outcome.added.length > 0) {
        const messages = outcome.added.map(({ seq, localId }) => ({ seq, localId }))
        onEvent({ type: 'messages-stored', account, session, messages, at: now() })
      }
      return outcome
    },
    async writeCell(account, cell, expected, value, at) {
      const outcome = await store.writeCell(account, cell, expected, value, at)
      if (outcome !== 'missing' && outcome.written)
        onEvent({ type: 'value-written', account, value: cell, version: outcome.version, at: now() })
      return outcome
    },
    async remove(account, row) {
      const outcome = await store.remove(account, row)
      if (outcome !== 'missing') onEvent({ type: 'removed', account, row, at: now() })
      return outcome
    }
  }
  return overlaid(store, watched)
}

// Everything that is not watched is the store's own method, whatever kind of object an embedder's store is.
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

/** The token that a transaction asked for. */
function remembered(mint: (account: AccountId) => TokenDraft) {
  let made: TokenDraft | undefined
  return {
    mint(account: AccountId): TokenDraft {
      made = mint(account)
      return made
    },
    draft(): TokenDraft {
      if (!made) throw new Error('The store let somebody in without a token.')
      return made
    }
  }
}
