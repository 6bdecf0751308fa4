import HTTP
import HealthModel
import JSON
import SQLite

/// An element's id as stored: 16 bytes for a UUID, whatever its case, so that iOS's upper-case form is the same id;
/// otherwise text.
enum ElementID: Hashable, CustomStringConvertible, Bindable {
    case uuid(SampleID)
    case text(String)

    static let limit = 200

    /// nil when it can't be an id: not a string, empty, or too long.
    init?(_ span: JSONSpan?) {
        guard let span, span.isString, !span.bytes.isEmpty, span.bytes.count <= Self.limit else { return nil }
        if let uuid = SampleID(uuid: span.bytes) {
            self = .uuid(uuid)
        } else if let text = span.text {
            self = .text(text)
        } else {
            return nil
        }
    }

    init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= Self.limit else { return nil }
        var copy = text
        self = copy.withUTF8 { SampleID(uuid: UnsafeRawBufferPointer($0)) }.map { .uuid($0) } ?? .text(text)
    }

    var description: String {
        switch self {
        case .uuid(let id): id.description
        case .text(let text): text
        }
    }

    func bind(to statement: Statement, _ index: Int) {
        switch self {
        case .uuid(let id):
            withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { statement.bind(index, blob: $0) }
        case .text(let text): statement.bind(index, text)
        }
    }

    /// Appends its JSON form.
    func append(to out: inout [UInt8]) {
        switch self {
        case .uuid(let id):
            out.append(UInt8(ascii: "\""))
            out.append(uuid: id)
            out.append(UInt8(ascii: "\""))
        case .text(let text): out.append(jsonString: text)
        }
    }
}

extension Statement {
    /// The id in a column.
    /// - Parameter flag: the column that says whether it is a UUID.
    func elementID(_ column: Int, isUUID flag: Int) -> ElementID {
        withBytes(column) { ElementID(column: $0, isUUID: int(flag) == 1) }
    }
}
