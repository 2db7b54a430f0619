/** A session with nothing to read: new, gone, or sealed with other keys. */
export function SessionEmpty({ title, text }: { title: string; text: string }) {
  return (
    <div class="chat-empty">
      <svg viewBox="0 0 390 72" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
        <path class="far" d="M0 56C60 34 140 30 214 44s120 10 176-6v34H0Z" />
        <path class="near" d="M0 62c80-18 150-22 226-10s116 8 164-2v22H0Z" />
      </svg>
      <h2 dir="auto">{title}</h2>
      <p>{text}</p>
    </div>
  )
}
