import * as v from '../../schema.ts'

/**
 * The permissions of a token. `read` the account's data; `write` messages, sessions, machines and other data; `call`
 * the methods of sessions and machines; `manage` access: sign-ins, pairing, access keys, the account itself.
 */
export const scope = v.picklist(['read', 'write', 'call', 'manage'])
export type Scope = v.InferOutput<typeof scope>

export const everyScope: readonly Scope[] = scope.options

/** What a route or event requires of the token: a scope, or only that it is valid. */
export type Need = Scope | 'any'

export function isAllowed(scopes: readonly Scope[], need: Need): boolean {
  return need === 'any' || scopes.includes(need)
}
