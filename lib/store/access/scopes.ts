import type { Scope } from '../../protocol/wire/scopes.ts'

/** A row as it is stored: its scopes are words separated by spaces. */
export type KeptScopes<Row> = Omit<Row, 'scopes'> & { scopes: string }

export function withScopes<Row>({ scopes, ...row }: KeptScopes<Row>) {
  // Written by this program itself, from the closed set.
  return { ...row, scopes: scopes.split(' ').filter(word => word !== '') as Scope[] }
}
