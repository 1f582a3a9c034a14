import { createHash } from 'node:crypto';

/**
 * The queues of a flow: `handSize` different numbers below `queues`, always the same ones for a flow. Two flows hardly ever have
 * the same hand, so that a flow that fills its queues leaves another at least one that is not full.
 */
export function dealHand(schema: string, flow: string, queues: number, handSize: number): readonly number[] {
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  let hash = createHash('sha256').update(`${schema.length},${schema}${flow}`).digest().readBigUInt64BE();
  /** In ascending order. */
  const dealt: number[] = [];
  const hand: number[] = [];
  for (let left = queues; hand.length < handSize; left--) {
    let card = Number(hash % BigInt(left));
    hash /= BigInt(left);
    // The card's number counts only what is left in the deck.
    let place = 0;
    while (place < dealt.length && dealt[place]! <= card) {
      card++;
      place++;
    }
    dealt.splice(place, 0, card);
    hand.push(card);
  }
  return hand;
}
