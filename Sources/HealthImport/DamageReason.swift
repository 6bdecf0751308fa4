import CXMLStream

/// Why a fragment of a damaged file was quarantined; an intact element, as HealthKit wrote it, never has one of these
/// reasons.
package enum DamageReason: String, CaseIterable, Sendable {
    case notWellFormed = "the element isn't well-formed"
    case zeroBytes = "there are zero bytes where the element's content was"
    case foreignBytes = "the element has bytes that aren't UTF-8"
    case entity = "the element refers to an entity, and entities aren't read"
    case partNotWellFormed = "a part of the element isn't well-formed"
    case noEndTag = "the element has no end tag"
    case fileEnds = "the file ends within the element"
    case textWithin = "there is text in the middle of the element"
    case textBetween = "there is text where only elements belong"
}

extension DamageReason {
    /// Why an element with this fault is quarantined; nil if it has no fault.
    init?(_ fault: healthbus_xml_fault, ofPart isPart: Bool) {
        switch fault {
        case healthbus_xml_form: self = isPart ? .partNotWellFormed : .notWellFormed
        case healthbus_xml_zeros: self = .zeroBytes
        case healthbus_xml_foreign: self = .foreignBytes
        case healthbus_xml_entity: self = .entity
        default: return nil
        }
    }

    /// What is wrong with text between tags; nil if the text doesn't reveal that.
    init?(of text: healthbus_xml_text) {
        self.init(healthbus_xml_fault_of(text.bytes, text.length), ofPart: true)
    }
}

extension UnsafePointer<healthbus_xml_element> {
    /// Why the element can't be read; nil if its tag is well-formed.
    var problem: String? {
        pointee.malformed ? DamageReason(pointee.fault, ofPart: false)?.rawValue : nil
    }
    /// Why the enclosing element can't be read.
    var problemAsPart: String? {
        pointee.malformed ? DamageReason(pointee.fault, ofPart: true)?.rawValue : nil
    }
}
