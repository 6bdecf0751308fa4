import HealthImport
import HealthModel
import TestSupport
import Testing

/// Everything in an archive is either read, or kept, or counted and named.
@Suite struct DocumentTests {
    private func read(_ files: [(name: String, bytes: [UInt8])], _ elements: String = steps()) throws -> (
        receiver: CollectingReceiver, summary: ReadSummary
    ) {
        let folder = try TemporaryFolder()
        let zip = ZipBytes(files + [("apple_health_export/export.xml", Array(export(elements).utf8))])
        let receiver = CollectingReceiver()
        return (receiver, try ExportReader(path: folder.file("e.zip", zip.bytes)).read(into: receiver.take))
    }

    private static let record = """
        <ClinicalRecord type="Observation" identifier="obs-1" sourceName="Riverside Clinic" sourceURL="https://fhir.example/Observation/obs-1" \
        fhirVersion="4.0.1" receivedDate="2025-03-30 08:15:00 +0200" resourceFilePath="/clinical-records/Observation-A.json"/>
        """

    @Test func aClinicalRecordIsASampleAndADocument() throws {
        let content = Array(#"{"resourceType":"Observation","id":"obs-1"}"#.utf8)
        let (receiver, summary) = try read(
            [
                ("apple_health_export/clinical-records/Observation-A.json", content),
                ("apple_health_export/clinical-records/Patient-B.json", Array("{}".utf8)),
            ], Self.record + steps())
        #expect(summary.clinicalRecords == 2 && summary.otherSamples == 1 && summary.ignoredEntryCount == 0)
        #expect(receiver.rows[0].type == "Observation" && receiver.rows[0].start == "2025-03-30T06:15:00Z")
        let body = try Value(json: Array(receiver.rows[0].payload.utf8))
        #expect(body["identifier"] == "obs-1" && body["fhirVersion"] == "4.0.1")
        #expect(body["resourceFilePath"] == "/clinical-records/Observation-A.json")
        #expect(
            receiver.documents.first
                == DocumentPart(
                    file: DocumentFile(
                        kind: .clinicalRecord, name: "clinical-records/Observation-A.json",
                        mediaType: "application/fhir+json",
                        reference: DocumentReference(
                            element: "ClinicalRecord", type: "Observation", identifier: "obs-1",
                            sourceName: "Riverside Clinic", received: InstantText.parse("2025-03-30T06:15:00Z"))),
                    offset: 0, bytes: content,
                    end: .init(
                        hash: ContentDigest(content[...]).bytes, piece: receiver.documents.first?.end?.piece)))
        // Nothing in the export refers to the other document.
        #expect(receiver.documents.count == 2 && receiver.documents[1].file.reference == nil)
        #expect(receiver.documents[1].file.mediaType == "application/json")
    }

    @Test func anAttachmentIsKnownByItsContentOrFolder() throws {
        let photo: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2]
        let (receiver, summary) = try read(
            [
                ("apple_health_export/prescriptions/F00-1.jpg", photo), ("apple_health_export/attachments/note", [1]),
                ("apple_health_export/scan.pdf", Array("%PDF-1.7".utf8)),
            ],
            """
            <VisionPrescription type="Contacts" dateIssued="2025-03-01 00:00:00 +0100">
             <RightEye sphere="-1.25" sphereUnit="D"/><Attachment identifier="F00-1"/>
            </VisionPrescription>
            """)
        #expect(summary.attachments == 3 && summary.ignoredEntryCount == 0)
        #expect(
            receiver.documents.map(\.file.mediaType) == ["image/jpeg", "application/octet-stream", "application/pdf"])
        #expect(receiver.documents[0].file.reference?.element == "VisionPrescription")
        #expect(receiver.documents[0].file.reference?.type == "HKVisionPrescriptionTypeIdentifier")
        #expect(receiver.documents.dropFirst().allSatisfy { $0.file.reference == nil })
        let body = try Value(json: Array(receiver.rows[0].payload.utf8))
        #expect(body["statedType"] == "Contacts" && body["children"].array?.first?["sphere"] == "-1.25")
    }

    /// Sizes close to that of one part, and a size that is too large to hold in memory.
    @Test(arguments: [0, 1, 256 << 10, (256 << 10) + 1, (8 << 20) + 77]) func aDocumentComesInParts(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 7) }
        let (receiver, _) = try read([("x/clinical-records/big.bin", content)])
        #expect(Array(receiver.documents.map(\.bytes).joined()) == content)
        var offset: Int64 = 0
        for part in receiver.documents {
            #expect(part.offset == offset && part.bytes.count <= DocumentPart.limit)
            offset += Int64(part.bytes.count)
        }
        #expect(receiver.documents.dropLast().allSatisfy { $0.end == nil && !$0.bytes.isEmpty })
        #expect(receiver.documents.last?.end?.hash == ContentDigest(content[...]).bytes)
        #expect((receiver.documents.last?.end?.piece == nil) == (size > 8 << 20))
    }

    @Test func whatIsNotReadIsCountedAndNamed() throws {
        let (receiver, summary) = try read([
            ("apple_health_export/export_cda.xml", Array("<?xml version=\"1.0\"?><ClinicalDocument/>".utf8)),
            ("apple_health_export/Robin/notes.txt", Array("hello".utf8)),
            ("apple_health_export/Robin/more.txt", Array("hello".utf8)),
            ("__MACOSX/apple_health_export/._export.xml", [0, 5, 22]),
            ("old/export.xml", Array(export(steps()).utf8)),
            ("readme", []),
        ])
        #expect(receiver.rows.count == 1 && receiver.documents.isEmpty)
        #expect(
            summary.unread == [
                UnreadFiles(kind: .clinicalDocument, folder: "apple_health_export", count: 1),
                UnreadFiles(kind: .other, folder: "apple_health_export/Robin", count: 2),
                UnreadFiles(kind: .other, folder: "__MACOSX/apple_health_export", count: 1),
                UnreadFiles(kind: .other, folder: "", count: 1),
                UnreadFiles(kind: .export, folder: "apple_health_export", count: 1),
            ])
        #expect(summary.ignoredEntryCount == 6 && summary.ignoredEntries.count == 6)
        #expect(summary.otherExports == ["apple_health_export/export.xml"])
    }

    /// The same rules apply to elements that occur in no known export.
    @Test func anyElementWithATimeIsASample() throws {
        let dates = #"startDate="2025-03-30 08:15:00 +0200" endDate="2025-03-30 08:20:00 +0200""#
        let (receiver, summary) = try read(
            [],
            """
            <StateOfMind sourceName="Health" \(dates) kind="dailyMood" valence="0.4" value="3" unit="x"><Label name="Calm">so &amp; so</Label></StateOfMind>
            <ScoredAssessment type="HKScoredAssessmentTypeIdentifierGAD7" \(dates) score="5"/>
            <PHQ9Assessment \(dates) score="6"/>
            <MedicationDoseEvent \(dates) logStatus="taken" doseQuantity="1"/>
            <UserAnnotatedMedication nickname="n" isArchived="false" creationDate="2025-03-30 08:15:00 +0200"/>
            <NewThing \(dates)><MetadataEntry key="k" value="v"/><Part a="1"><Inner b="2"/></Part></NewThing>
            <NewThing/>
            <Workoux \(dates)/>
            <WorkoutEvent \(dates)/>
            """)
        #expect(
            receiver.rows.map(\.type) == [
                "HKDataTypeIdentifierStateOfMind", "HKScoredAssessmentTypeIdentifierGAD7",
                "HKScoredAssessmentTypeIdentifierPHQ9", "HKMedicationDoseEventTypeIdentifierMedicationDoseEvent",
                "HKDataTypeUserAnnotatedMedicationConcept", "NewThing",
            ])
        #expect(receiver.rows.allSatisfy { $0.start == "2025-03-30T06:15:00Z" } && summary.otherSamples == 6)
        #expect(
            receiver.rows[0].payload
                == #"{"children":[{"element":"Label","name":"Calm","text":"so & so"}],"element":"StateOfMind","kind":"dailyMood","unit":"x","valence":"0.4","value":"3"}"#
        )
        #expect(receiver.rows[5].metadata == #"{"k":"v"}"#)
        #expect(
            receiver.rows[5].payload
                == #"{"children":[{"a":"1","children":[{"b":"2","element":"Inner"}],"element":"Part"}],"element":"NewThing"}"#
        )
        #expect(receiver.quarantine.count == 3)
    }
}
