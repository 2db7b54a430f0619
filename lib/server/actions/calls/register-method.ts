import type { RowRef } from '../../../store/rows.ts'

/** More than any client registers, and little enough to keep for each connection. */
const mostMethods = 256

/**
 * Why a connection of this scope, which answers so many methods already, may not answer this one; undefined when it may. A name
 * like `<id>:<method>` is answered by that session or machine itself, so that nobody else can stand in for it.
 */
export function methodRefusal(scope: 'app' | RowRef, method: string, registered: number): string | undefined {
  if (registered >= mostMethods) return 'Too many methods'
  // An id may have colons, the method after it has none: else `a` could answer for `a:b`.
  const colon = method.lastIndexOf(':')
  const isOwn = scope !== 'app' && colon !== -1 && method.slice(0, colon) === scope.id
  return isOwn ? undefined : 'Only the session or machine itself answers its methods'
}
