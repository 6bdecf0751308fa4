/// The mark of an invented export: an attribute of its `HealthData` element that no phone writes.
package enum ExportMark {
    package static let attribute = "origin"
    package static let madeUp = "made up by healthbus"
}
