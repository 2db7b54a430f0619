import * as z from 'zod'
import { type Ephemeral, ephemeral } from '../../protocol/wire/ephemerals.ts'
import { type Update, update, updateBody } from '../../protocol/wire/updates.ts'

/** `strange` is a frame of an unknown kind, which every client silently drops. */
export type Frame<Known> = { type: 'known'; frame: Known } | { type: 'strange' } | { type: 'bad' }

export function readUpdate(frame: unknown): Frame<Update> {
  return readFrame(update, frame, looseUpdate.safeParse(frame).data?.body.t, updateKinds)
}

export function readEphemeral(frame: unknown): Frame<Ephemeral> {
  return readFrame(ephemeral, frame, looseEphemeral.safeParse(frame).data?.type, ephemeralKinds)
}

const looseUpdate = z.object({ body: z.object({ t: z.string() }) })
const looseEphemeral = z.object({ type: z.string() })
const updateKinds = new Set<string>(updateBody.options.map(option => option.shape.t.value))
const ephemeralKinds = new Set<string>(ephemeral.options.map(option => option.shape.type.value))

function readFrame<Known>(schema: z.ZodType<Known>, frame: unknown, kind: string | undefined, kinds: Set<string>): Frame<Known> {
  const known = schema.safeParse(frame)
  if (known.success) return { type: 'known', frame: known.data }
  return kind === undefined || kinds.has(kind) ? { type: 'bad' } : { type: 'strange' }
}
