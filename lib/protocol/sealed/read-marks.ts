import * as z from 'zod'

/** The key under which an account keeps, sealed like its settings, how far its sessions were read on any of its devices. Ours. */
export const readMarksKey = 'afield.read'

/** By session the number of the last message that a person has seen; it only rises. */
export const readMarks = z.looseObject({ read: z.record(z.string(), z.int().min(0)) })
