/// Why a fragment of a damaged file was quarantined, as opposed to an element that HealthKit wrote.
package enum DamageReason: String, CaseIterable, Sendable {
    case notWellFormed = "the element isn't well-formed"
    case partNotWellFormed = "a part of the element isn't well-formed"
    case noEndTag = "the element has no end tag"
    case fileEnds = "the file ends within the element"
    case textWithin = "there is text in the middle of the element"
    case textBetween = "there is text where only elements belong"
}
