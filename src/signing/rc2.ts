/**
 * RC2 in CBC mode (RFC 2268), to read old PKCS#12 files: older programs encrypt certificates with it, and OpenSSL 3 has it
 * no more. It protects nothing here.
 */

/** RFC 2268, section 2: bytes made of the digits of pi. */
const PI = Buffer.from(
  'd978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2' +
    '179a59f587b34f1361456d8d09817d32bd8f40eb86b77b0bf09521225c6b4e82' +
    '54d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb626' +
    '6fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed7' +
    '08e8eade8052eef784aa72ac354d6a2a961ad2715a1549744b9fd05e0418a4ec' +
    'c2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731' +
    '2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a9' +
    '0d38341bab33ffb0bb480c5fb9b1cd2ec5f3db47e5a59c770aa62068fe7fc1ad',
  'hex',
);
const pi = (index: number): number => PI[index & 0xff] ?? 0;

/** The 64 words of the key (section 2). */
function expand(key: Buffer, effectiveBits: number): Uint16Array {
  const bytes = new Uint8Array(128);
  bytes.set(key);
  const at = (index: number): number => bytes[index] ?? 0;
  for (let n = key.length; n < 128; n += 1) bytes[n] = pi(at(n - 1) + at(n - key.length));
  const effective = Math.ceil(effectiveBits / 8);
  const mask = 0xff >> (8 * effective - effectiveBits);
  bytes[128 - effective] = pi(at(128 - effective) & mask);
  for (let n = 127 - effective; n >= 0; n -= 1) bytes[n] = pi(at(n + 1) ^ at(n + effective));
  return Uint16Array.from({ length: 64 }, (_, n) => at(2 * n) + 256 * at(2 * n + 1));
}

const ROTATIONS = [1, 2, 3, 5];

function decryptBlock(words: Uint16Array, block: Buffer): Uint16Array {
  const r = Uint16Array.from({ length: 4 }, (_, n) => block.readUInt16LE(2 * n));
  const at = (index: number): number => r[index & 3] ?? 0;
  const word = (index: number): number => words[index] ?? 0;
  let next = 63;
  const mix = (): void => {
    for (let n = 3; n >= 0; n -= 1) {
      const by = ROTATIONS[n] ?? 0;
      const turned = (at(n) >> by) | (at(n) << (16 - by));
      r[n] = turned - word(next) - (at(n - 1) & at(n - 2)) - (~at(n - 1) & at(n - 3));
      next -= 1;
    }
  };
  const mash = (): void => {
    for (let n = 3; n >= 0; n -= 1) r[n] = at(n) - word(at(n - 1) & 63);
  };
  for (const rounds of [5, 6, 5]) {
    for (let round = 0; round < rounds; round += 1) mix();
    if (next > 0) mash();
  }
  return r;
}

/** @returns the content with its padding */
export function decryptRc2(encrypted: Buffer, key: Buffer, iv: Buffer): Buffer {
  const words = expand(key, key.length * 8);
  const content = Buffer.alloc(encrypted.length & ~7);
  for (let at = 0; at < content.length; at += 8) {
    const block = decryptBlock(words, encrypted.subarray(at, at + 8));
    const previous = at === 0 ? iv : encrypted.subarray(at - 8, at);
    for (const [n, each] of block.entries()) {
      content.writeUInt16LE(each ^ previous.readUInt16LE(2 * n), at + 2 * n);
    }
  }
  return content;
}
