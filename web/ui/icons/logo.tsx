/** The logo: a beacon on the horizon whose light is a path to you; together they form a keyhole. */
export function Logo({ size }: { size: number }) {
  return (
    <svg class="logo" viewBox="0 0 512 512" width={size} height={size} aria-hidden="true">
      <rect width="512" height="512" fill="#0f3a3a" />
      <path d="M0 308C120 276 190 270 256 270s136 6 256 38v204H0Z" fill="#2b7a62" />
      <path d="M214 270 0 420v92h46L226 270ZM298 270l214 150v92h-46L286 270Z" fill="#246a57" />
      <path d="M228 262h56l76 250H152Z" fill="#ffd88c" />
      <circle cx="256" cy="196" r="88" fill="#f9b83e" />
    </svg>
  )
}
