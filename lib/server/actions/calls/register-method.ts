import type { RowRef } from '../../../store/rows.ts'

/** More than any client registers, and few enough to store for each connection. */
const mostMethods = 256

/**
 * Why a connection of this scope, with this many methods already, may not register this one; undefined if
 * it may. A name like `<id>:<method>` can be registered only by that session or machine itself, so that
 * nobody can impersonate it.
 */
export function methodRefusal(scope: 'app' | RowRef, method: string, registered: number): string | undefined {
  if (registered >= mostMethods) return 'Too many methods'
  // An id may contain colons, the method after it none: otherwise `a` could answer for `a:b`.
  const colon = method.lastIndexOf(':')
  const isOwn = scope !== 'app' && colon !== -1 && method.slice(0, colon) === scope.id
  return isOwn ? undefined : 'Only the session or machine itself answers its methods'
}
