import { type PushPayload as Payload, pushPayload } from '../../../lib/protocol/wire/push-payload.ts'
import * as v from '../../../lib/schema.ts'

export type { Payload }

/** The parts of a push event that are used here. Browsers that parse a declarative push themselves pass on what they parsed. */
export interface Pushed {
  readonly data?: { json(): unknown } | null
  readonly notification?: unknown
}

/** Undefined if our server did not send it. */
export function readPayload({ data, notification }: Pushed): Payload | undefined {
  return v.safeParse(pushPayload, notification ?? declaredIn(data)).data
}

function declaredIn(data: Pushed['data']): unknown {
  try {
    const said = data?.json()
    return typeof said === 'object' && said !== null && 'notification' in said ? said.notification : undefined
  } catch {
    return undefined
  }
}
