// Afield and your own routes on one port. Your routes take precedence if their pattern is at least as specific as one of
// Afield's. Register a catch-all route before createServer; it then replaces Afield's app.
//   node examples/shared-app.ts ./data
import { createServer, loadUws } from 'afield'

const uws = loadUws()
const app = uws.App()
app.get('/hello', response => {
  response.end('Hello from the owner of the app.')
})
const server = await createServer({ app, data: process.argv[2] ?? './data', signup: 'open', logLevel: 'warn' })

app.listen('127.0.0.1', 0, listening => {
  if (!listening) throw new Error('The port is taken.')
  console.log(`listening on http://127.0.0.1:${uws.us_socket_local_port(listening)}`)
})

process.once('SIGTERM', async () => {
  await server.close()
  // The program that created the app closes it.
  app.close()
  console.log('closed')
})
