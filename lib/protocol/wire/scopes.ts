import * as v from '../../schema.ts'

/**
 * What a token may do. `read` what the account has; `write` messages, sessions, machines and what else the account keeps; `call`
 * the methods of sessions and machines; `manage` who gets in: sign-ins, pairing, access keys, the account itself.
 */
export const scope = v.picklist(['read', 'write', 'call', 'manage'])
export type Scope = v.InferOutput<typeof scope>

export const everyScope: readonly Scope[] = scope.options

/** What a route or an event asks of the token: a scope, or no more than to be good. */
export type Need = Scope | 'any'

export function isAllowed(scopes: readonly Scope[], need: Need): boolean {
  return need === 'any' || scopes.includes(need)
}
