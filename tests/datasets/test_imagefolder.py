"""Images in folders, as the model zoos want them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from samples import sample
from scipy.io import savemat

from framewatt.base.errors import FramewattError
from framewatt.datasets.imagefolder import make

RED = (200, 100, 50)


def write_image(path: Path, colour: tuple = RED, size: tuple[int, int] = (300, 260)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    PIL.Image.new("RGB", size, colour).save(path, "PNG")


def write_flat(folder: Path, labels: str, images: int = 3, name: str = "val.txt") -> Path:
    """ILSVRC's layout: image 1 has the grey value 1 and so on, and a label file."""
    for number in range(1, images + 1):
        write_image(folder / f"ILSVRC2012_val_0000000{number}.JPEG", (number,) * 3)
    (folder / name).write_text(labels)
    return folder


def greys(arrays: object) -> list[int]:
    return [round(float(image[0, 0, 0]) * 255) for image in arrays.x_test]


@pytest.mark.parametrize(
    ("preprocessing", "channels"),
    [
        ("unit", [200 / 255, 100 / 255, 50 / 255]),
        ("torch", [(200 / 255 - 0.485) / 0.229, (100 / 255 - 0.456) / 0.224, (50 / 255 - 0.406) / 0.225]),
        ("caffe", [50 - 103.939, 100 - 116.779, 200 - 123.68]),
        ("tf", [200 / 127.5 - 1, 100 / 127.5 - 1, 50 / 127.5 - 1]),
    ],
)
def test_values_are_as_the_weights_expect(tmp_path: Path, preprocessing: str, channels: list[float]) -> None:
    write_image(tmp_path / "cat" / "1.png")
    arrays = make(folder=tmp_path, preprocessing=preprocessing)
    assert arrays.x_test.shape == (1, 3, 224, 224)
    for channel, value in zip(arrays.x_test[0], channels, strict=True):
        assert channel == pytest.approx(value, abs=1e-4)


def test_the_centre_is_taken_after_the_shorter_side_is_resized(tmp_path: Path) -> None:
    # 512x1024 pixels become 8x16; rows 4 to 11 of those are the middle half of the original.
    image = PIL.Image.new("RGB", (512, 1024), (0, 0, 0))
    image.paste((255, 255, 255), (0, 256, 512, 768))
    (tmp_path / "cat").mkdir()
    image.save(tmp_path / "cat" / "1.png")
    arrays = make(folder=tmp_path, preprocessing="unit", resize=8, crop=8)
    assert arrays.x_test[0, :, 2:-2] == pytest.approx(1)
    assert arrays.x_test[0, :, [0, -1]].min() > 0.5


def test_variants_share_images_and_labels() -> None:
    folder = sample("imagefolder-flowers-ccby")
    variants = [make(folder=folder / "val", preprocessing=name, seed=3) for name in ("torch", "caffe", "tf")]
    assert len({tuple(arrays.y_test) for arrays in variants}) == 1
    assert len({arrays.about["original_files_sha256"] for arrays in variants}) == 1
    torch, caffe, tf = (arrays.x_test for arrays in variants)
    caffe_red, tf_red = caffe[:, 2] + 123.68, (tf[:, 0] + 1) * 127.5
    np.testing.assert_allclose(caffe_red, tf_red, atol=1e-3)
    np.testing.assert_allclose(torch[:, 0] * 0.229 + 0.485, tf_red / 255, atol=1e-5)


def test_class_folders_are_classes_in_order_of_their_names() -> None:
    arrays = make(folder=sample("imagefolder-flowers-ccby"), preprocessing="torch", train="train", test="val")
    assert np.bincount(arrays.y_train).tolist() == [16] * 5
    assert np.bincount(arrays.y_test).tolist() == [8] * 5
    assert arrays.about["layout"] == "class folders"


def test_a_choice_is_mixed_repeatable_and_has_no_image_twice() -> None:
    folder = sample("imagefolder-flowers-ccby") / "val"
    few = make(folder=folder, preprocessing="unit", test_samples=20)
    again = make(folder=folder, preprocessing="unit", test_samples=20)
    other = make(folder=folder, preprocessing="unit", test_samples=20, seed=1)
    assert np.array_equal(few.x_test, again.x_test)
    assert not np.array_equal(few.x_test, other.x_test)
    assert len(np.unique(few.x_test.reshape(20, -1), axis=0)) == 20
    assert len(set(few.y_test)) == 5


@pytest.mark.parametrize("named", [True, False])
def test_flat_images_have_the_classes_of_their_label_file(tmp_path: Path, named: bool) -> None:
    labels = "4\n0\n2\n"
    if named:
        labels = "".join(f"ILSVRC2012_val_0000000{n}.JPEG {label}\n" for n, label in ((3, 2), (1, 4), (2, 0)))
    arrays = make(folder=write_flat(tmp_path, labels), preprocessing="unit", classes=1000)
    assert dict(zip(greys(arrays), arrays.y_test.tolist(), strict=True)) == {1: 4, 2: 0, 3: 2}
    assert arrays.classes == 1000


def write_devkit(folder: Path) -> None:
    """Three classes whose numbers are in another order than their names, and a group of classes that is none itself."""
    fields = [("ILSVRC2012_ID", object), ("WNID", object), ("num_children", object)]
    synsets = np.array([(1, "n03", 0), (2, "n01", 0), (3, "n02", 0), (4, "n00", 3)], dtype=fields)
    savemat(folder / "meta.mat", {"synsets": synsets})


def test_numbers_of_ilsvrc_become_places_in_the_order_of_wordnet_ids(tmp_path: Path) -> None:
    folder = write_flat(tmp_path, "1\n2\n3\n", name="ILSVRC2012_validation_ground_truth.txt")
    write_devkit(folder)
    arrays = make(folder=folder, preprocessing="unit", classes=3)
    assert dict(zip(greys(arrays), arrays.y_test.tolist(), strict=True)) == {1: 2, 2: 0, 3: 1}


def with_label_file(labels: str, name: str = "val.txt") -> Callable[[Path], object]:
    return lambda folder: write_flat(folder, labels, name=name)


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (with_label_file("1\n2\n"), "val.txt: it has 2 labels for 3 images. Use one for each image"),
        (with_label_file("1\n2\n3\n4\n"), "val.txt: it has 4 labels for 3 images"),
        (with_label_file("1\n2\ncat\n"), "val.txt: it has no class for an image"),
        (with_label_file("1\n2\n1000\n"), "val.txt: it has class 1000. Use 0 to 999"),
        (
            with_label_file("a.JPEG 1\nb.JPEG 2\nc.JPEG 3\n"),
            "it has no class for an image: 'ILSVRC2012_val_00000001.JPEG'",
        ),
        (
            with_label_file("1\n2\n3\n", "ILSVRC2012_validation_ground_truth.txt"),
            "it has ILSVRC's own numbers of classes",
        ),
        (lambda folder: (write_flat(folder, "1\n1\n1\n") / "val.txt").unlink(), "it has 0 label files"),
        (lambda folder: (folder / "n01").mkdir(), "it has 1 class folders. Use 1000"),
        (lambda folder: None, "it has no images"),
        (lambda folder: folder.rmdir(), "no such folder"),
    ],
)
def test_a_folder_that_does_not_say_the_classes_is_told(tmp_path: Path, prepare: Callable, reason: str) -> None:
    prepare(tmp_path)
    with pytest.raises(FramewattError, match=reason):
        make(folder=tmp_path, preprocessing="unit", classes=1000)


def damage(folder: Path) -> Path:
    """Three classes of one image each, the second cut short in the middle and the last no image at all."""
    photo = next(sample("imagefolder-flowers-ccby").glob("val/roses/*.jpg")).read_bytes()
    for name, content in (("a", photo), ("b", photo[: len(photo) // 2]), ("c", b"GIF89a")):
        (folder / name).mkdir()
        (folder / name / f"{name}.jpg").write_bytes(content)
    return folder


def test_a_damaged_image_is_named(tmp_path: Path) -> None:
    with pytest.raises(FramewattError, match=r"(b/b|c/c).jpg: the image is damaged: .*set damaged: leave_out"):
        make(folder=damage(tmp_path), preprocessing="unit")


def test_damaged_images_can_be_left_out_and_are_on_record(tmp_path: Path) -> None:
    arrays = make(folder=damage(tmp_path), preprocessing="unit", damaged="leave_out")
    assert (arrays.y_test.tolist(), arrays.classes) == ([0], 3)
    assert arrays.x_test.std() > 0.05
    assert sorted(one["file"] for one in arrays.about["left_out"]) == ["b/b.jpg", "c/c.jpg"]
    assert all(one["reason"] for one in arrays.about["left_out"])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"preprocessing": "torchvision"}, "preprocessing: torchvision is not possible. Use unit, torch, caffe, tf"),
        ({"damaged": "ignore"}, "damaged: ignore is not possible. Use error, leave_out"),
        ({"crop": 300}, r"crop: 300 is not possible. Use 1 to resize \(256\)"),
        ({"test_samples": 2}, "test_samples: there are 1, and config/datasets.yaml wants 2"),
    ],
)
def test_options_out_of_range_are_told(tmp_path: Path, options: dict, reason: str) -> None:
    write_image(tmp_path / "cat" / "1.png")
    with pytest.raises(FramewattError, match=reason):
        make(folder=tmp_path, **{"preprocessing": "unit", **options})
