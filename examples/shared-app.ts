// Afield beside routes of your own, on one port. Your routes win where their pattern is as exact as one of Afield's or
// more so; one for everything else goes before createServer, and then stands in for Afield's app.
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
  // The owner ends what the owner opened.
  app.close()
  console.log('closed')
})
