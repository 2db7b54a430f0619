import { type ReadonlySignal, signal } from '@preact/signals'

/**
 * When this device asks for its owner. It stops people who pick up an unlocked device; it encrypts nothing, so it does not stop
 * anyone who can read this browser's files or run code in this page.
 */
export type LockChoice = 'off' | 'open' | 'after5' | 'risky'

/** Why the screen lock could not be set up. */
export type LockProblem = 'unavailable' | 'refused'

interface KeptLock {
  choice: Exclude<LockChoice, 'off'>
  /** base64url: the passkey created for the lock. */
  id: string
}

const choiceNow = signal<LockChoice>('off')
const lockedNow = signal(false)
let isAsking = false
/** When this page was hidden, by a monotonic clock, and the stored time then; undefined while it is visible. */
let left: { at: number; seenAt: string | null } | undefined

export const lockChoice: ReadonlySignal<LockChoice> = choiceNow
/** True while nothing of the account may be shown. */
export const isLocked: ReadonlySignal<boolean> = lockedNow

const awayForMs = 5 * 60_000
const keptName = 'afield-lock'
const seenAtName = 'afield-seen-at'

/** Call before rendering anything of the account. */
export function startLock(): void {
  left = undefined
  const choice = readKept()?.choice ?? 'off'
  choiceNow.value = choice
  lockedNow.value = isDue(choice)
  document.addEventListener('visibilitychange', () => (document.visibilityState === 'hidden' ? leave() : comeBack()))
  window.addEventListener('pagehide', () => {
    // A page discarded in the background was last visible when it went there.
    if (document.visibilityState === 'visible') leave()
  })
  window.addEventListener('pageshow', event => event.persisted && comeBack())
  window.addEventListener('storage', event => {
    if (event.key === keptName || event.key === null) followOtherTab()
  })
}

/** True if this browser can ask for the screen lock. */
export async function canLock(): Promise<boolean> {
  return typeof PublicKeyCredential !== 'undefined' && (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable())
}

/** Changes when the lock asks; setting it up and removing it ask too. */
export async function chooseLock(chosen: LockChoice): Promise<LockProblem | undefined> {
  const kept = readKept()
  if (kept && !(await isOwner())) return 'refused'
  if (chosen === 'off') {
    forgetLock()
    return undefined
  }
  if (!kept && !(await canLock())) return 'unavailable'
  const id = kept?.id ?? (await makePasskey())
  if (id === undefined) return 'refused'
  localStorage.setItem(keptName, JSON.stringify({ choice: chosen, id } satisfies KeptLock))
  choiceNow.value = chosen
  return undefined
}

/** True once the owner has been verified. */
export async function unlock(): Promise<boolean> {
  if (!(await isOwner())) return false
  open()
  return true
}

/** The same for someone who has the account key. */
export function unlockWithKey(typed: string, key: string): boolean {
  const plain = (text: string) => text.toUpperCase().replaceAll(/[^0-9A-Z]/g, '')
  if (plain(typed) !== plain(key)) return false
  open()
  return true
}

/** Verifies the owner before a sensitive action. True immediately if there is no lock. */
export async function stepUp(): Promise<boolean> {
  return choiceNow.peek() === 'off' || isOwner()
}

export function forgetLock(): void {
  localStorage.removeItem(keptName)
  localStorage.removeItem(seenAtName)
  choiceNow.value = 'off'
  lockedNow.value = false
}

function open(): void {
  lockedNow.value = false
  noteSeen()
}

function leave(): void {
  noteSeen()
  left = { at: performance.now(), seenAt: localStorage.getItem(seenAtName) }
  // Immediately, so that the preview in the app switcher shows nothing either.
  if (choiceNow.peek() === 'open' && !isAsking) lockedNow.value = true
}

function comeBack(): void {
  if (document.visibilityState === 'hidden') return
  const choice = choiceNow.peek()
  // The system's prompt hides the page, which must not lock it again.
  if (isDue(choice) && !(choice === 'open' && isAsking)) lockedNow.value = true
  left = undefined
}

/** All tabs share the lock: it was changed or removed in another one. */
function followOtherTab(): void {
  choiceNow.value = readKept()?.choice ?? 'off'
  if (choiceNow.peek() === 'off') lockedNow.value = false
}

// A locked page shows nothing: looking at the lock, or reloading it, must not count as activity of the owner.
function noteSeen(): void {
  if (choiceNow.peek() === 'after5' && !lockedNow.peek()) localStorage.setItem(seenAtName, String(Date.now()))
}

function isDue(choice: LockChoice): boolean {
  if (choice === 'open') return true
  if (choice !== 'after5') return false
  const seenAt = localStorage.getItem(seenAtName)
  const awayMs = Date.now() - Number(seenAt)
  // A time in the future: the clock was set back. While the page lives it uses the monotonic clock, unless the owner was in another tab since.
  if (awayMs < 0 || awayMs >= awayForMs) return true
  return left !== undefined && left.seenAt === seenAt && performance.now() - left.at >= awayForMs
}

async function makePasskey(): Promise<string | undefined> {
  const made = await asked(() =>
    navigator.credentials.create({
      publicKey: {
        challenge: random(32),
        rp: { name: 'Afield' },
        user: { id: random(16), name: 'Afield', displayName: 'Afield' },
        pubKeyCredParams: [
          { type: 'public-key', alg: -7 },
          { type: 'public-key', alg: -257 }
        ],
        authenticatorSelection: { authenticatorAttachment: 'platform', userVerification: 'required', residentKey: 'discouraged' },
        attestation: 'none'
      }
    })
  )
  return made?.id
}

// The authenticator's signature is not verified: code that could forge the answer could also skip the prompt.
async function isOwner(): Promise<boolean> {
  const kept = readKept()
  if (!kept) return true
  const answer = await asked(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: random(32),
        allowCredentials: [{ type: 'public-key', id: fromBase64Url(kept.id) }],
        userVerification: 'required'
      }
    })
  )
  return answer !== undefined
}

async function asked(ask: () => Promise<Credential | null>): Promise<Credential | undefined> {
  isAsking = true
  try {
    return (await ask()) ?? undefined
  } catch {
    // Canceled, failed or not possible: the owner was not verified.
    return undefined
  } finally {
    isAsking = false
  }
}

function random(length: number): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(length))
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0))
}

function readKept(): KeptLock | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keptName) ?? 'null')
    return isKept(kept) ? kept : undefined
  } catch {
    return undefined
  }
}

function isKept(kept: unknown): kept is KeptLock {
  if (typeof kept !== 'object' || kept === null || !('choice' in kept) || !('id' in kept)) return false
  return typeof kept.id === 'string' && (kept.choice === 'open' || kept.choice === 'after5' || kept.choice === 'risky')
}
