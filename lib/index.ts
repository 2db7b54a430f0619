export { CannotStart } from './exit.ts'
export type { GivenOptions, ServerOptions } from './options.ts'
export { createServer, type Server, type ServerExtras } from './server/create.ts'
