import { examineCertificate, examineNames } from '../lib/doctor/certificate.ts'
import { examineSpace } from '../lib/doctor/disk.ts'
import type { Finding } from '../lib/doctor/finding.ts'
import { isLoopback, type ServerOptions } from '../lib/options.ts'

/** One sentence for each thing that works at this start, but not for phones, or not for long. `home` is the printed address. */
export function startWarnings(
  { data, tlsCert, trustProxy }: Pick<ServerOptions, 'data' | 'tlsCert' | 'trustProxy'>,
  home: string,
  now: number,
  free?: number
): string[] {
  const host = new URL(home).hostname.replace(/^\[|\]$/g, '')
  // Phones see the certificate of a proxy in front, not this one.
  const isSeen = trustProxy === undefined && !isLoopback(host)
  const ofCertificate = (file: string) => [examineCertificate(file, now), ...(isSeen ? [examineNames(file, host)] : [])]
  return [
    ...sentences(`The disk of ${data} is nearly full, with `, [examineSpace(data, free)]),
    ...(tlsCert === undefined ? [] : sentences(`The certificate in ${tlsCert} `, ofCertificate(tlsCert)))
  ]
}

function sentences(subject: string, findings: readonly Finding[]): string[] {
  return findings.flatMap(({ state, says, advice = '' }) =>
    state === 'ok' ? [] : [`${subject}${says}: ${advice.charAt(0).toLowerCase()}${advice.slice(1)}.`]
  )
}
