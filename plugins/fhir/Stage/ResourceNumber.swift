import DeliveryKit
import HealthModel
import HealthResources

/// A number that is the same for the same measurement, whether the resource is built here or comes from a server. Pure.
///
/// A server adds an id, `meta` and a narrative, replaces references, and writes numbers and times in its own way; that
/// makes no difference. A different value, unit, time, code, person or status does.
enum ResourceNumber {
    /// The number of an `Observation`.
    static func of(_ resource: Value) -> Int64 {
        var members = (resource.object ?? [:]).filter { name, _ in
            ownMembers.contains(name) || name.hasPrefix("value") || name.hasPrefix("effective")
        }
        let person = resource["subject"]["identifier"]
        members["subject"] = ["system": person["system"], "value": person["value"]]
        return Int64(ContentNumber.text(normal(.object(members), "").json()) >> 1)
    }

    private static let ownMembers: Set<String> = [
        "status", "category", "code", "dataAbsentReason", "component", "device",
    ]
    /// What servers add to any element, and to a code.
    private static let added: Set<String> = ["id", "extension", "display", "userSelected", "version"]

    /// - Parameter name: the member's name; empty for the resource.
    private static func normal(_ value: Value, _ name: String) -> Value {
        switch value {
        case .object(let members):
            .object(
                members.reduce(into: [:]) { kept, member in
                    let isName = name == "device" && member.key == "display"
                    guard !member.value.isNull, !member.key.hasPrefix("_"), isName || !added.contains(member.key)
                    else { return }
                    kept[member.key] = normal(member.value, member.key)
                })
        case .array(let elements): .array(elements.map { normal($0, name) })
        case .integer(let number): .number(Double(number))
        case .string(let text) where ["effectiveDateTime", "start", "end"].contains(name):
            // Servers differ in how they write a zone and the fraction of a second. A date stays as it is.
            InstantText.parse(text).map { .integer($0.microseconds / 1000) } ?? value
        default: value
        }
    }
}

extension FHIRForm {
    /// The numbers of a group's elements, from the resources as they are sent.
    package var contentOf: ContentOf {
        { group in
            var numbers = [Int64?](repeating: nil, count: group.count)
            let rows = (0..<group.count).filter { FHIRTransaction.has($0, of: group) }
            let transaction = FHIRTransaction(group, rows, self)
            let entries = try Value(json: transaction.body)["entry"].array ?? []
            let sent = zip(entries, transaction.methods).filter { $0.1 != .createPatient }
            for (row, (entry, method)) in zip(rows, sent) where method == .put {
                numbers[row] = ResourceNumber.of(entry["resource"])
            }
            return numbers
        }
    }
}
