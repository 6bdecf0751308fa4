import HTTP
import HealthModel
import HealthResources

/// What a server found for an identifier of ours. Pure.
///
/// On most servers, conditional updates aren't atomic: one that is sent again while the first is still in progress may
/// leave two resources with one identifier. From then on the server refuses (412) to update or delete either.
enum FoundResources {
    /// The ids of all but one of them; empty if there is only one, or if it isn't certain that each is ours: a server
    /// that doesn't understand a search may answer with whatever it has.
    static func superfluous(_ response: HTTPResponse, of identifier: ResourceIdentifier) -> [String] {
        guard response.status == 200, let bundle = FHIRAnswer.json(response.body), bundle["type"] == "searchset" else {
            return []
        }
        let entries = bundle["entry"].array ?? []
        // A search with an error may have missed some.
        guard !entries.contains(where: { FHIROutcome(entry: $0)?.isError == true }) else { return [] }
        let found = entries.map { $0["resource"] }
            .filter { $0["resourceType"] != "OperationOutcome" }
        let ids = found.compactMap { $0["id"].string }.filter(isID)
        guard ids.count == found.count, Set(ids).count == ids.count,
            found.allSatisfy({ resource in
                resource["resourceType"] == "Observation"
                    && resource["identifier"].array?.contains {
                        $0["system"].string == identifier.system && $0["value"].string == identifier.value
                    } == true
            })
        else { return [] }
        return Array(ids.sorted().dropFirst())
    }

    /// Only ids in FHIR's own form are accepted, so that no id leads to another path.
    private static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy {
                $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
            }
    }
}
