import { WebSocket } from 'ws'

// Wrappers go over the WebSocket of this package, the app over that of the browser, which Node.js has too: the same tests over both.
Object.assign(globalThis, { WebSocket })

await import('./socket.test.ts')
await import('../calls/calls.test.ts')
await import('../cuts.test.ts')
await import('../journey.test.ts')
