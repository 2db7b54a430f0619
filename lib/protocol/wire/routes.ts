import type * as v from '../../schema.ts'
import { accessKeyRoutes } from './routes/access-keys.ts'
import { accountRoutes } from './routes/account.ts'
import { artifactRoutes } from './routes/artifacts.ts'
import { attachmentRoutes } from './routes/attachments.ts'
import { changeRoutes } from './routes/changes.ts'
import { deviceRoutes } from './routes/devices.ts'
import { kvRoutes } from './routes/kv.ts'
import { kvListRoutes } from './routes/kv-lists.ts'
import { machineRoutes } from './routes/machines.ts'
import { pairingRoutes } from './routes/pairing.ts'
import { pushRoutes } from './routes/push.ts'
import type { bytesIn, bytesOut } from './routes/route.ts'
import { sessionRoutes } from './routes/sessions.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { signUpRoutes } from './routes/sign-up.ts'
import { unsupportedRoutes } from './routes/unsupported.ts'
import { usageRoutes } from './routes/usage.ts'

export { type BytesIn, type BytesOut, bytesIn, bytesOut, type Route } from './routes/route.ts'

/** Every HTTP route of the server: one definition for server, wrapper, app and the generated protocol page. */
export const routes = {
  ...signInRoutes,
  ...signUpRoutes,
  ...deviceRoutes,
  ...pairingRoutes,
  ...sessionRoutes,
  ...machineRoutes,
  ...accountRoutes,
  ...artifactRoutes,
  ...attachmentRoutes,
  ...kvListRoutes,
  ...kvRoutes,
  ...accessKeyRoutes,
  ...usageRoutes,
  ...changeRoutes,
  ...unsupportedRoutes,
  ...pushRoutes
} as const

export type RouteName = keyof typeof routes
/** The routes whose bodies and answers are JSON. */
export type JsonRouteName = {
  [Name in RouteName]: (typeof routes)[Name]['body'] extends typeof bytesIn
    ? never
    : (typeof routes)[Name]['reply'] extends typeof bytesOut
      ? never
      : Name
}[RouteName]
export type ParamsOf<Name extends RouteName> = v.InferOutput<(typeof routes)[Name]['params']>
export type QueryOf<Name extends RouteName> = v.InferOutput<(typeof routes)[Name]['query']>
export type BodyOf<Name extends RouteName> = v.InferOutput<(typeof routes)[Name]['body']>
/** Routes that require no token. */
export type OpenRouteName = { [Name in RouteName]: (typeof routes)[Name]['auth'] extends 'none' ? Name : never }[RouteName]
export type ReplyOf<Name extends RouteName> = v.InferOutput<(typeof routes)[Name]['reply']>
