import HealthImport
import TestSupport

/// A document that contains the given elements, without a document type.
func export(_ elements: String, locale: String = "en_DE") -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <HealthData locale="\(locale)">
     <ExportDate value="2025-04-06 08:15:00 +0200"/>
    \(elements)
    </HealthData>

    """
}

/// A whole step record, except for the parts that a test changes.
func steps(
    _ value: String = "120", start: String = "2025-03-30 08:15:00 +0200", end: String = "2025-03-30 08:20:00 +0200",
    more: String = ""
) -> String {
    """
    <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" unit="count" startDate="\(start)" endDate="\(end)" value="\(value)"\(more)/>
    """
}

/// Reads a document, and returns the result.
func read(_ document: String) throws -> (receiver: CollectingReceiver, summary: ReadSummary) {
    try read(bytes: Array(document.utf8))
}

func read(bytes: [UInt8]) throws -> (receiver: CollectingReceiver, summary: ReadSummary) {
    let folder = try TemporaryFolder()
    let receiver = CollectingReceiver()
    let summary = try ExportReader(path: folder.file("anything.bin", bytes)).read(into: receiver.take)
    return (receiver, summary)
}
