/**
 * All refusals for callers. `status` is the HTTP status; `says` is the text on the wire, verbatim
 * where existing clients or their documentation rely on it; `retry` says whether the same request may succeed later.
 */
export const failures = {
  'no-token': { status: 401, retry: false, says: 'Missing authorization header' },
  'bad-token': { status: 401, retry: false, says: 'Invalid token' },
  'bad-signature': { status: 401, retry: false, says: 'Invalid signature' },
  'bad-public-key': { status: 401, retry: false, says: 'Invalid public key' },
  'scope-missing': { status: 403, retry: false, says: 'This token is not allowed to do this' },
  'legacy-login-off': { status: 403, retry: false, says: 'Legacy sign-in is disabled for this account' },
  'login-held': {
    status: 403,
    retry: true,
    says: 'This server was restored from a backup; legacy sign-in works again after 24 hours'
  },
  'setup-code-required': { status: 403, retry: false, says: 'setup-code-required' },
  'setup-locked': { status: 429, retry: true, says: 'Too many wrong setup codes. Try again in a minute.' },
  'signup-closed': { status: 403, retry: false, says: 'This server accepts no new accounts.' },
  'signup-pending': { status: 403, retry: true, says: 'pending' },
  'signup-not-found': { status: 404, retry: false, says: 'No one with this key is waiting' },
  'invite-required': { status: 403, retry: false, says: 'invite-required' },
  'invite-not-found': { status: 404, retry: false, says: 'Invitation not found' },
  'owner-only': { status: 403, retry: false, says: 'Only the owner of this server can do this' },
  'owner-stays': { status: 409, retry: false, says: "The owner's account can only be removed last" },
  'account-not-found': { status: 404, retry: false, says: 'Account not found' },
  'too-many-requests': { status: 429, retry: true, says: 'Too many requests' },
  'quota-reached': { status: 507, retry: true, says: 'This account is out of space' },
  'pairing-not-found': { status: 404, retry: false, says: 'Request not found' },
  'pairing-answered': { status: 409, retry: false, says: 'Request was already answered' },
  'legacy-pairing-off': { status: 403, retry: false, says: 'This server requires a check code for pairing; use a client of Afield' },
  'legacy-keys-off': { status: 403, retry: false, says: 'This server does not let programs ask for the account key; update the program' },
  'pairing-over': { status: 410, retry: false, says: 'Request has expired' },
  'session-not-found': { status: 404, retry: false, says: 'Session not found' },
  'session-not-removable': { status: 404, retry: false, says: 'Session not found or not owned by user' },
  'session-full': { status: 409, retry: false, says: 'Session has no message numbers left' },
  'machine-not-found': { status: 404, retry: false, says: 'Machine not found' },
  'key-not-found': { status: 404, retry: false, says: 'Key not found' },
  'kv-conflict': { status: 409, retry: false, says: 'version-mismatch' },
  'artifact-not-found': { status: 404, retry: false, says: 'Artifact not found' },
  'attachment-not-found': { status: 404, retry: false, says: 'Attachment not found' },
  'foreign-attachment-ref': { status: 400, retry: false, says: 'Ref does not belong to this session' },
  'bad-attachment-ref': { status: 400, retry: false, says: 'Invalid attachment ref' },
  'upload-elsewhere': { status: 409, retry: false, says: 'The upload is at another offset' },
  'attachment-kept': { status: 409, retry: false, says: 'The attachment is complete and has different bytes' },
  'attachment-differs': { status: 409, retry: false, says: 'The bytes do not match the digest; upload them again' },
  'access-key-place-not-found': { status: 404, retry: false, says: 'Session or machine not found' },
  'access-key-not-found': { status: 404, retry: false, says: 'Access key not found' },
  'access-key-exists': { status: 409, retry: false, says: 'Access key already exists' },
  'bad-cursor': { status: 400, retry: false, says: 'Invalid cursor format' },
  'user-not-found': { status: 404, retry: false, says: 'User not found' },
  'github-not-offered': { status: 400, retry: false, says: 'GitHub OAuth not configured' },
  'voice-not-offered': { status: 400, retry: false, says: 'ELEVENLABS_API_KEY not configured' },
  'vendor-tokens-not-kept': { status: 403, retry: false, says: 'This server does not store vendor tokens' },
  'bad-nonce': { status: 401, retry: true, says: 'Nonce is too old or was already used' },
  'device-unknown': { status: 401, retry: false, says: 'Device is not signed in' },
  'wrong-origin': { status: 403, retry: false, says: 'This server is not known under that origin' },
  'device-not-found': { status: 404, retry: false, says: 'Device not found' },
  'token-not-found': { status: 404, retry: false, says: 'Token not found' },
  'callee-away': { status: 503, retry: true, says: 'RPC method not available' },
  'callee-gone': { status: 502, retry: false, says: 'RPC target disconnected' },
  'call-timed-out': { status: 504, retry: false, says: 'operation has timed out' },
  'call-failed': { status: 502, retry: false, says: 'Internal error' },
  'too-many-calls': { status: 429, retry: true, says: 'Too many calls at once' },
  'body-too-large': { status: 413, retry: false, says: 'Payload Too Large' },
  'body-too-slow': { status: 408, retry: true, says: 'The body arrives too slowly' },
  'body-cut': { status: 400, retry: true, says: 'The body ended early' },
  'range-outside': { status: 416, retry: false, says: 'Range Not Satisfiable' },
  'bad-content-type': { status: 415, retry: false, says: 'Unsupported Media Type' },
  'channel-not-found': { status: 404, retry: false, says: 'This account has no such channel' },
  'bad-input': { status: 400, retry: false, says: 'Error' },
  'ambiguous-request': { status: 400, retry: false, says: 'A request with a body needs one numeric Content-Length' },
  'no-length': { status: 411, retry: false, says: 'A request with a body needs a Content-Length; chunked encoding is not supported' },
  'token-in-address': { status: 400, retry: false, says: 'A token belongs in the authorization header' },
  'wrong-host': { status: 421, retry: false, says: 'This server answers its own computer only; set --public-url for others' },
  'sub-path': {
    status: 421,
    retry: false,
    says: 'Afield needs a host name or a port of its own: under a path, other pages of the same host could read the account key'
  },
  ending: { status: 503, retry: true, says: 'The server is restarting; try again soon' },
  busy: { status: 503, retry: true, says: 'The server is overloaded; try again soon' },
  'storage-full': { status: 507, retry: true, says: 'The server is out of space' },
  'row-damaged': { status: 500, retry: false, says: 'The stored data is damaged' },
  'storage-busy': { status: 503, retry: true, says: "The server's storage is busy, or cannot be reached" },
  'storage-failed': { status: 503, retry: true, says: 'The server cannot store anything now' },
  internal: { status: 500, retry: true, says: 'Internal Server Error' }
} as const satisfies Record<string, { status: number; retry: boolean; says: string }>

export type FailureCode = keyof typeof failures

/** Why a call got no answer. The text is the `error` of its acknowledgement. */
export const callFailures = {
  'no-method': 'Invalid parameters: method is required',
  'not-available': 'RPC method not available',
  'same-connection': 'Cannot call RPC on the same socket',
  'callee-gone': 'RPC target disconnected',
  'timed-out': 'operation has timed out',
  'too-many': 'Too many calls at once',
  internal: 'Internal error'
} as const

export type CallFailure = keyof typeof callFailures

/** Thrown by actions; the edge turns it into a status, a close code or a failed acknowledgement. */
export class Failure extends Error {
  readonly code: FailureCode
  /** For `bad-input`: where and why, never the value itself. */
  readonly detail: string | undefined
  /** For refusals with more than one text: the body for the wire. */
  readonly body: unknown

  /** When the same request may succeed, in seconds; undefined if unknown. */
  readonly retryAfterS: number | undefined

  constructor(code: FailureCode, detail?: string, body?: unknown, retryAfterS?: number) {
    super(failures[code].says)
    this.name = 'Failure'
    this.code = code
    this.detail = detail
    this.body = body
    this.retryAfterS = retryAfterS
  }
}

export function failure(code: FailureCode, detail?: string): Failure {
  return new Failure(code, detail)
}

export function tooMany(retryAfterS: number, code: 'too-many-requests' | 'setup-locked' = 'too-many-requests'): Failure {
  return new Failure(code, undefined, undefined, retryAfterS)
}

export function failureWithBody(code: FailureCode, body: unknown): Failure {
  return new Failure(code, undefined, body)
}
