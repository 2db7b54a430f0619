import { once } from 'node:events'
import { createServer } from 'node:net'

/** Why listening failed, in one sentence: uWebSockets.js does not say, so the system is asked again. */
export async function listenRefusal(host: string, port: number): Promise<string> {
  const code = await codeOfListening(host, port)
  const at = `Port ${port} on ${host} cannot be used`
  if (code === 'EADDRINUSE') return `${at}: another program uses it; choose another with --port.`
  if (code === 'EACCES') return `${at}: permission denied; choose one above 1023 with --port.`
  if (code === 'EADDRNOTAVAIL') return `This computer does not have the address ${host}; choose one of its own with --host.`
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `The name ${host} does not resolve; give an address of this computer with --host.`
  return `${at}${code === undefined ? '' : ` (${code})`}; choose another with --port or --host.`
}

async function codeOfListening(host: string, port: number): Promise<string | undefined> {
  const probe = createServer()
  try {
    probe.listen({ host, port, exclusive: true })
    await once(probe, 'listening')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  } finally {
    probe.close()
  }
}
