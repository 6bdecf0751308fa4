import HealthModel
import JSON
import Protocol

/// A page of changes as JSON, for programs and people. Stacks get columns instead (`ChangesAnswer.encoded`).
enum ChangesDocument {
    static func json(_ answer: ChangesAnswer, at now: Instant) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(400 * answer.count + 400)
        out.append(json: "{\"user\":")
        out.append(jsonString: answer.user)
        out.append(json: ",\"serverTime\":")
        out.append(jsonDate: now)
        out.append(json: ",\"next\":")
        out.append(jsonString: answer.next)
        out.append(json: answer.hasMore ? ",\"hasMore\":true" : ",\"hasMore\":false")
        out.append(json: ",\"zones\":")
        out.append(contentsOf: answer.zones.json().utf8)
        out.append(json: ",\"characteristics\":")
        out.append(contentsOf: answer.characteristics.json().utf8)
        out.append(json: ",\"changes\":[")
        var isFirst = true
        for page in answer.pages {
            for row in 0..<page.count {
                if !isFirst { out.append(UInt8(ascii: ",")) }
                isFirst = false
                append(row, of: page, to: &out)
            }
        }
        out.append(json: "]}")
        return out
    }

    private static func append(_ row: Int, of page: SamplePage, to out: inout [UInt8]) {
        let isDeleted = page.flags[row].contains(.deleted)
        out.append(json: "{\"id\":")
        out.append(jsonString: page.ids[row].description)
        out.append(json: ",\"version\":")
        out.append(json: page.sequence[row])
        out.append(json: isDeleted ? ",\"deleted\":true" : ",\"deleted\":false")
        out.append(json: ",\"type\":")
        out.append(jsonString: page.typeName(row))
        out.append(json: ",\"startDate\":")
        out.append(jsonDate: page.startOf(row))
        out.append(json: ",\"endDate\":")
        out.append(jsonDate: page.endOf(row))
        // A tombstone has no content, only what is needed to compute the deleted sample's days again.
        if !isDeleted { appendContent(row, of: page, to: &out) }
        out.append(UInt8(ascii: "}"))
    }

    private static func appendContent(_ row: Int, of page: SamplePage, to out: inout [UInt8]) {
        let origin = page.originOf(row)
        out.append(json: ",\"value\":")
        if page.value[row].isFinite { out.append(json: page.value[row]) } else { out.append(json: "null") }
        member(",\"unit\":", page.unitIndex(row).map { page.units[$0] } ?? "", &out)
        member(",\"source\":", origin.sourceName, &out)
        member(",\"sourceVersion\":", origin.sourceVersion, &out)
        member(",\"productType\":", origin.productType, &out)
        member(",\"device\":", origin.device, &out)
        let isManual = page.flags[row].contains(.manual)
        out.append(json: isManual ? ",\"sourceType\":\"manual\"" : ",\"sourceType\":\"healthkit\"")
        out.append(
            json: page.flags[row].contains(.userEntered) ? ",\"userEntered\":true" : ",\"userEntered\":false")
        out.append(json: ",\"created\":")
        if page.created.isEmpty || page.created[row] == 0 {
            out.append(json: "null")
        } else {
            out.append(jsonDate: Instant(seconds: page.created[row]))
        }
        member(",\"healthkitUUID\":", page.uuidOf(row)?.description ?? "", &out)
        out.append(json: ",\"metadata\":")
        text(page.metadata, row, &out)
        out.append(json: ",\"payload\":")
        text(page.payload, row, &out)
    }

    /// Appends a string, or null if the string is empty.
    private static func member(_ name: StaticString, _ text: String, _ out: inout [UInt8]) {
        out.append(json: name)
        if text.isEmpty { out.append(json: "null") } else { out.append(jsonString: text) }
    }

    /// Appends JSON as it is, or null if there is none.
    private static func text(_ column: TextColumn, _ row: Int, _ out: inout [UInt8]) {
        if let text = column.utf8(row) { out.append(contentsOf: text) } else { out.append(json: "null") }
    }
}
