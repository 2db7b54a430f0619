// A server inside another program, which receives events for stored data and sign-ins.
//   node examples/embed.ts ./data
import { createServer } from 'afield'

const server = await createServer({
  port: 0,
  data: process.argv[2] ?? './data',
  signup: 'open',
  logLevel: 'warn',
  onEvent: event => console.log(`${event.type} in ${event.account}`),
  onAudit: event => console.log(`audit: ${event.type}`)
})
console.log(`listening on ${server.url}`)

process.once('SIGTERM', async () => {
  await server.close()
  console.log('closed')
})
