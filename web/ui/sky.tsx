/** The line of the hills. The sun is up only while a decision is waiting. */
export function SkyArt({ hasSun }: { hasSun: boolean }) {
  return (
    <svg class="sky-art" viewBox="0 0 390 72" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      {hasSun && <circle class="sun" cx="322" cy="40" r="21" />}
      <path class="far" d="M0 56C60 34 140 30 214 44s120 10 176-6v28H0Z" />
      <path class="near" d="M0 62c80-18 150-22 226-10s116 8 164-2v22H0Z" />
    </svg>
  )
}

/** The field at dawn: the first picture of Afield that people see. */
export function Scene() {
  return (
    <svg class="scene" viewBox="0 0 390 380" preserveAspectRatio="xMidYMax slice" aria-hidden="true">
      <rect class="sc-sky" width="390" height="380" />
      <circle class="sc-halo" cx="195" cy="176" r="150" />
      <circle class="sc-halo" cx="195" cy="176" r="104" />
      <path class="sc-far" d="M0 206c34-20 74-28 112-18 30 8 50 22 83 22s58-16 92-26c40-11 74 0 103 14v182H0Z" />
      <path class="sc-near" d="M0 264C92 236 142 228 195 228s103 8 195 36v116H0Z" />
      <path
        class="sc-furrow"
        d="M170 229 0 326v54h36L180 228ZM220 229l170 97v54h-36L210 228ZM158 230 0 288v12l164-71ZM232 230l158 58v12l-164-71Z"
      />
      <path class="sc-path" d="M176 222h38l58 158H118Z" />
      <circle class="sun" cx="195" cy="176" r="58" />
    </svg>
  )
}
