import fc from 'fast-check'
import { type AccountId, type DeviceId, inviteId, pairingId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import type { TokenDraft, TokenKind } from '../../../lib/store/rows.ts'
import { deviceId, sha256, signInAs, tokenDraft, tokenId } from '../../store/contract/kit.ts'
import { accountNamed, type Play, quotas, type Steps, small, step, unordered, who } from './kit.ts'

const person = fc.constantFrom('ann', 'ann', 'bob', 'eve')
const network = fc.constantFrom(...Array.from({ length: 7 }, () => '10.0.0'), '10.0.1', '10.9.0', '2001:0db8:0001:00')
const pairingKind = fc.constantFrom('terminal' as const, 'terminal' as const, 'terminal' as const, 'device' as const)
const key = fc.constantFrom('k1', 'k1', 'k1', 'k1', 'k2', 'k3')
const request = fc.constantFrom('p1', 'p1', 'p1', 'p2', 'p2', 'p3').map(name => v.parse(pairingId, name))
const response = fc.constantFrom('one', 'two')
const most = fc.constantFrom(undefined, { here: 2, inAll: 3 })

/** A token that nobody has yet; of a device with a key of its own, or of one without. */
function newToken(play: Play, kind: TokenKind, { publicKey, lasts }: { publicKey: string | null; lasts: number }): TokenDraft {
  const name = `token ${play.step}`
  const more = {
    createdAt: play.now,
    expiresAt: lasts === 0 ? null : play.now + lasts * 40,
    idleMs: play.step % 2 === 0 ? null : 60,
    device: kind === 'named' ? null : { id: deviceId(`device ${play.step}`), publicKey, most: 2 + (lasts % 2) }
  }
  // A store may ask twice.
  if (play.tokens.at(-1) !== name) play.tokens.push(tokenId(name))
  return tokenDraft(kind, name, `label \u0000 of ${name}`, more)
}

/** The time after some days. It never goes back. */
function after(play: Play, days: number): number {
  const ms = days * 24 * 60 * 60_000
  play.waited += ms
  return play.now + ms
}

const publicKey = fc.constantFrom(null, 'key', 'another key')
const someToken = ({ tokens }: Play, index: number) => tokens[tokens.length - 1 - index] ?? tokenId('nowhere')

async function someDevice({ store }: Play, account: AccountId, index: number): Promise<DeviceId> {
  return (await store.listDevices(account))[index]?.id ?? deviceId('nowhere')
}

const invite = fc.constantFrom('i1', 'i2').map(name => v.parse(inviteId, name))
const create = fc.oneof(
  fc.constantFrom('always' as const, 'always' as const, 'if-first' as const, 'if-approved' as const, 'never' as const),
  fc.record({ invite: fc.constantFrom(null, sha256('i1'), sha256('i2')), network })
)

export const signIns: Steps[] = [
  step('signIn', { person, create, fresh: fc.boolean(), challenge: fc.nat(30), publicKey, lasts: small }, (play, ask) =>
    play.store.signIn(
      signInAs(ask.person, {
        create: ask.create,
        fresh: ask.fresh,
        challengeHash: sha256(`challenge ${ask.challenge}`),
        token: () => newToken(play, 'account', ask),
        now: play.now
      })
    )
  ),
  step('hasAccounts', {}, ({ store }) => store.hasAccounts()),
  step('account', { who }, async ({ store }, { who }) => [
    await store.accountCreatedAt(who),
    await store.readAccountKey(who),
    await store.readRole(who),
    await store.readLegacyLogin(who)
  ]),
  step('listAccounts', {}, ({ store }) => store.listAccounts()),
  step('setLegacyLogin', { who, may: fc.constantFrom('on' as const, 'once' as const, 'off' as const) }, ({ store }, { who, may }) =>
    store.setLegacyLogin(who, may)
  ),
  step('holdLegacyLogins', { small }, ({ store, now }, { small }) => store.holdLegacyLogins(now + small * 2.5)),
  step('removeAccount', { person }, async ({ store }, { person }) => {
    const removed = await store.removeAccount(accountNamed(person))
    return typeof removed === 'string' ? removed : unordered(removed.tokens)
  })
]

export const tokensAndDevices: Steps[] = [
  step('listDevices', { who }, ({ store }, { who }) => store.listDevices(who)),
  step('renameDevice', { who, small }, async (play, { who, small }) =>
    play.store.renameDevice(who, await someDevice(play, who, small), `name \u0000 ${small}`)
  ),
  step('removeDevice', { who, small }, async (play, { who, small }) => {
    const removed = await play.store.removeDevice(who, await someDevice(play, who, small))
    return typeof removed === 'string' ? removed : unordered(removed.tokens)
  }),
  step('a token', { who, small }, async (play, { who, small }) => {
    const token = someToken(play, small)
    return [await play.store.findDeviceOf(who, token), await play.store.findBearer(sha256(token))]
  }),
  step('renewToken', { who, publicKey: fc.constantFrom('key', 'another key'), nonce: fc.nat(20), lasts: small }, (play, ask) =>
    play.store.renewToken({
      account: ask.who,
      deviceKey: ask.publicKey,
      nonceHash: sha256(`challenge ${ask.nonce}`),
      token: () => newToken(play, 'account', ask),
      now: play.now
    })
  ),
  step('listTokens', { who }, ({ store }, { who }) => store.listTokens(who)),
  step('addToken', { who, lasts: small, quotas }, (play, { who, lasts, quotas }) =>
    play.store.addToken(who, newToken(play, 'named', { publicKey: null, lasts }), quotas)
  ),
  step('revokeToken', { who, small }, (play, { who, small }) => play.store.revokeToken(who, someToken(play, small))),
  step('markTokensUsed', { uses: fc.array(fc.record({ small, network }), { maxLength: 5 }) }, (play, { uses }) =>
    play.store.markTokensUsed(
      uses.map(({ small, network }, index) => ({ token: someToken(play, small), at: play.now - index * 3 + 0.5, from: network }))
    )
  ),
  step('recentRevocations', {}, async ({ store }) => unordered(await store.recentRevocations())),
  step('countExpired', {}, ({ store, now }) => store.countExpired(now)),
  step('endExpiredTokens', { days: fc.constantFrom(0, 0, 0, 200) }, async (play, { days }) =>
    unordered(await play.store.endExpiredTokens(after(play, days)))
  ),
  step('keepSecret', { small }, async ({ store, step }, { small }) => [...(await store.keepSecret(`${small}`, Buffer.from([step])))])
]

export const pairingSteps: Steps[] = [
  step('pollPairing', { kind: pairingKind, key, network, most, publicKey }, (play, ask) =>
    play.store.pollPairing({
      kind: ask.kind,
      publicKey: ask.key,
      supportsV2: ask.key === 'k1',
      from: ask.network,
      expiresAt: play.now + 300.5,
      most: ask.most,
      now: play.now,
      token: () => newToken(play, ask.kind, { publicKey: ask.publicKey, lasts: 2 })
    })
  ),
  step('readPairing', { kind: pairingKind, key }, ({ store, now }, { kind, key }) => store.readPairing(kind, key, now)),
  step('answerPairing', { kind: pairingKind, key, response, who, small }, async (play, { kind, key, response, who, small }) =>
    play.store.answerPairing({
      kind,
      publicKey: key,
      response,
      account: who,
      device: small === 0 ? null : await someDevice(play, who, small - 1),
      now: play.now
    })
  ),
  step('movePairings', { small }, ({ store, now }, { small }) => store.movePairings({ from: now, byMs: (small - 1) * 20.4, mostMs: 300 })),
  step('sweepPairings', { days: fc.constantFrom(...Array.from({ length: 20 }, () => 0), 1, 2) }, (play, { days }) =>
    play.store.sweepPairings(after(play, days))
  ),
  // The caller makes up an id that nobody has.
  step('addPairingRequest', { id: request, network, most }, async ({ store, now }, { id, network, most }) => {
    if ((await store.readPairingRequest(id, now)) !== 'unknown') return 'known'
    const keys = { publicKey: 'x', deviceKey: `key ${id}`, pollHash: 'right', name: 'a \u0000 b' }
    return store.addPairingRequest({ id, kind: 'terminal', ...keys, from: network, most, endsAt: now + 300.5, now })
  }),
  step('readPairingRequest', { id: request }, ({ store, now }, { id }) => store.readPairingRequest(id, now)),
  step('pollPairingRequest', { id: request, pollHash: fc.constantFrom('right', 'right', 'wrong'), publicKey }, (play, ask) =>
    play.store.pollPairingRequest({
      id: ask.id,
      pollHash: ask.pollHash,
      now: play.now,
      token: (account, row) => ({
        draft: newToken(play, 'terminal', { publicKey: ask.publicKey, lasts: 2 }),
        sealed: `for ${account}: ${JSON.stringify({ ...row, id: ask.id }).length}`
      })
    })
  ),
  step('approvePairingRequest', { id: request, who, response, small }, async (play, { id, who, response, small }) =>
    play.store.approvePairingRequest({
      id,
      account: who,
      device: small === 0 ? null : await someDevice(play, who, small - 1),
      response,
      now: play.now
    })
  ),
  step('rejectPairingRequest', { id: request }, ({ store, now }, { id }) => store.rejectPairingRequest(id, now))
]

export const signUps: Steps[] = [
  step('readStanding', { person }, ({ store, now }, { person }) => store.readStanding(signInAs(person).publicKey, now)),
  step('askSignup', { person: fc.constantFrom('ann', 'bob', 'eve', 'ida', 'joe'), network }, ({ store, now }, { person, network }) =>
    store.askSignup({
      publicKey: signInAs(person).publicKey,
      fingerprint: `words of ${person}`,
      client: 'an \u0000 app',
      address: network,
      askedAt: now,
      endsAt: now + 50,
      most: 3
    })
  ),
  step('listSignups', {}, ({ store, now }) => store.listSignups(now)),
  step(
    'decideSignup',
    { person, state: fc.constantFrom('approved' as const, 'approved' as const, 'rejected' as const) },
    ({ store, now }, { person, state }) => store.decideSignup(`words of ${person}`, { state, now, endsAt: now + 70 })
  ),
  step('addInvite', { invite }, async ({ store, now }, { invite }) => {
    if ((await store.listInvites()).some(({ id }) => id === invite)) return 'known'
    return store.addInvite({ id: invite, hash: sha256(invite), label: 'for \u0000', createdAt: now, endsAt: now + 80 })
  }),
  step('listInvites', {}, ({ store }) => store.listInvites()),
  step('openInvite', { invite, network }, ({ store, now }, { invite, network }) =>
    store.openInvite(sha256(invite), { network, now, until: now + 30 })
  ),
  step('removeInvite', { invite }, ({ store }, { invite }) => store.removeInvite(invite))
]
